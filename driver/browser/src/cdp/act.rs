//! Commands sent to Chromium.

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    geometry::BrowserWindowBounds,
    link::{BrowserClient, BrowserCommand},
    requests::{Arrival, LOAD_BOUND},
    state::kept,
    wire::BrowserCallError,
};

/// A connected Chromium.
#[derive(Debug, Clone)]
pub(crate) struct Cdp {
    link: BrowserClient,
}

impl Cdp {
    pub(crate) fn new(link: BrowserClient) -> Self {
        Self { link }
    }

    pub(crate) fn link(&self) -> &BrowserClient {
        &self.link
    }

    pub(super) fn main_session(&self, page: &str) -> Result<String, BrowserCallError> {
        let state = self.link.state();
        let session = state.page(page).and_then(|page| page.main_session());
        session.map(str::to_owned).ok_or_else(|| {
            BrowserCallError::NoDocument("the page was closed; look at the windows again".to_owned())
        })
    }

    pub(crate) async fn answer(
        &self,
        page: &str,
        accept: bool,
        text: Option<&str>,
    ) -> Result<(), BrowserCallError> {
        let session = self
            .link
            .state()
            .page(page)
            .and_then(|page| page.dialog.as_ref().map(|dialog| dialog.session.clone()));
        let mut parameters = json!({"accept": accept});
        if let (Some(text), Value::Object(parameters)) = (text, &mut parameters) {
            parameters.insert("promptText".to_owned(), Value::from(text));
        }
        let message =
            BrowserCommand { session, ..BrowserCommand::new("Page.handleJavaScriptDialog", parameters) };
        self.link.ask(message).await.map(|_| ())
    }

    pub(crate) async fn navigate(&self, page: &str, url: &str) -> Result<Arrival, BrowserCallError> {
        let session = self.main_session(page)?;
        let message = BrowserCommand::new("Page.navigate", json!({"url": url})).in_session(session);
        let navigated = async {
            let answer = self.link.ask_page(page, message).await?;
            let text = |name: &str| answer.get(name).and_then(Value::as_str);
            if answer.get("isDownload").and_then(Value::as_bool) == Some(true) {
                return Ok(Arrival::Download);
            }
            if let Some(error) = text("errorText") {
                return Ok(Arrival::Refused { error: kept(error) });
            }
            // Without a loader only the position in the document changes.
            let Some(loader) = text("loaderId").map(str::to_owned) else {
                return Ok(Arrival::Loaded { url: self.url(page) });
            };
            self.arrival(page, &loader).await
        };
        match timeout(LOAD_BOUND, navigated).await {
            Ok(Err(BrowserCallError::Dialog)) => Ok(Arrival::Dialog),
            Ok(arrival) => arrival,
            Err(_) => Ok(Arrival::StillLoading { url: self.url(page) }),
        }
    }

    /// Waits until the document of a navigation has loaded.
    async fn arrival(&self, page: &str, loader: &str) -> Result<Arrival, BrowserCallError> {
        loop {
            let seen = self
                .link
                .until(|state| {
                    let Some(page) = state.page(page) else { return Some(Err(closed())) };
                    let load = &page.load;
                    let is_done = !load.loading && (load.has_shown(loader) || load.started == loader);
                    is_done
                        .then(|| Ok(load.clone()))
                        .or_else(|| page.dialog.as_ref().map(|_| Err(BrowserCallError::Dialog)))
                })
                .await??;
            // When a page changes its process, the event that the document is shown can be missing: the page itself knows.
            let session = self.main_session(page)?;
            let message = BrowserCommand::new("Page.getFrameTree", json!({})).in_session(session);
            let tree = self.link.ask_page(page, message).await?;
            let frame = tree.pointer("/frameTree/frame").unwrap_or(&Value::Null);
            let text = |name: &str| frame.get(name).and_then(Value::as_str);
            if text("loaderId") == Some(loader) || seen.has_shown(loader) {
                return Ok(match text("unreachableUrl") {
                    Some(address) => {
                        Arrival::Refused { error: format!("an error page instead of {}", kept(address)) }
                    }
                    None => Arrival::Loaded {
                        url: kept(&format!(
                            "{}{}",
                            text("url").unwrap_or_default(),
                            text("urlFragment").unwrap_or_default()
                        )),
                    },
                });
            }
            // Another navigation was faster, or this document is not shown yet.
            self.link
                .until(|state| match state.page(page) {
                    Some(page) => (page.load != seen || page.dialog.is_some()).then_some(()),
                    None => Some(()),
                })
                .await?;
        }
    }

    fn url(&self, page: &str) -> String {
        self.link.state().page(page).map(|page| page.load.url.clone()).unwrap_or_default()
    }

    pub(crate) async fn new_tab(&self, page: &str) -> Result<String, BrowserCallError> {
        // New tabs open in the window that was active last.
        self.link.ask_browser("Target.activateTarget", json!({"targetId": page})).await?;
        let answer = self.link.ask_browser("Target.createTarget", json!({"url": "about:blank"})).await?;
        let Some(target) = answer.get("targetId").and_then(Value::as_str) else {
            return Err(BrowserCallError::Failed("the browser opened no tab; look at the window".to_owned()));
        };
        let attached =
            self.link.until(|state| state.page(target).and_then(|page| page.main_session().map(|_| ())));
        timeout(LOAD_BOUND, attached).await.unwrap_or_else(|_| {
            Err(BrowserCallError::Busy(
                "the new tab does not answer; look at the window before you repeat it".to_owned(),
            ))
        })?;
        Ok(target.to_owned())
    }

    pub(crate) async fn bounds(&self, page: &str) -> Option<BrowserWindowBounds> {
        let answer =
            self.link.ask_browser("Browser.getWindowForTarget", json!({"targetId": page})).await.ok()?;
        let bounds = answer.get("bounds")?;
        let number = |name: &str| bounds.get(name).and_then(Value::as_i64);
        Some(BrowserWindowBounds {
            x: number("left")?,
            y: number("top")?,
            width: number("width")?,
            height: number("height")?,
        })
    }
}

fn closed() -> BrowserCallError {
    BrowserCallError::NoDocument("the page was closed while it loaded; look at the windows again".to_owned())
}
