//! Commands sent to Firefox.

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    geometry::BrowserWindowBounds,
    link::{BrowserClient, BrowserCommand},
    requests::{Arrival, GLANCE_BOUND, LOAD_BOUND, WORLD},
    state::kept,
    wire::BrowserCallError,
};

/// A connected Firefox.
#[derive(Debug, Clone)]
pub(crate) struct Bidi {
    link: BrowserClient,
}

impl Bidi {
    pub(crate) fn new(link: BrowserClient) -> Self {
        Self { link }
    }

    pub(crate) fn link(&self) -> &BrowserClient {
        &self.link
    }

    pub(crate) async fn tabs(&self) -> Option<Vec<String>> {
        let tree = self.link.ask_browser("browsingContext.getTree", json!({"maxDepth": 0})).await.ok()?;
        let contexts = tree.get("contexts")?.as_array()?.iter();
        Some(contexts.filter_map(|context| context.get("context")?.as_str().map(str::to_owned)).collect())
    }

    pub(crate) async fn answer(
        &self,
        page: &str,
        accept: bool,
        text: Option<&str>,
    ) -> Result<(), BrowserCallError> {
        let mut parameters = json!({"context": page, "accept": accept});
        if let (Some(text), Value::Object(parameters)) = (text, &mut parameters) {
            parameters.insert("userText".to_owned(), Value::from(text));
        }
        self.link.ask(BrowserCommand::new("browsingContext.handleUserPrompt", parameters)).await.map(|_| ())
    }

    pub(crate) async fn navigate(&self, page: &str, url: &str) -> Result<Arrival, BrowserCallError> {
        let downloads = self.link.state().downloads.back().map(|download| download.id.clone());
        let parameters = json!({"context": page, "url": url, "wait": "complete"});
        let message = BrowserCommand::new("browsingContext.navigate", parameters);
        let began = || self.link.state().downloads.back().map(|download| download.id.clone()) != downloads;
        match timeout(LOAD_BOUND, self.link.ask_page(page, message)).await {
            Ok(Ok(answer)) => self.arrival(page, &answer, began).await,
            Ok(Err(BrowserCallError::Dialog)) => Ok(Arrival::Dialog),
            Ok(Err(BrowserCallError::Failed(_))) if began() => Ok(Arrival::Download),
            Ok(Err(BrowserCallError::Failed(error))) => Ok(Arrival::Refused { error }),
            Ok(Err(trouble)) => Err(trouble),
            Err(_) if began() => Ok(Arrival::Download),
            Err(_) => Ok(Arrival::StillLoading { url: self.url(page) }),
        }
    }

    /// Firefox also counts a navigation as done that has become a download.
    async fn arrival(
        &self,
        page: &str,
        answer: &Value,
        began: impl Fn() -> bool,
    ) -> Result<Arrival, BrowserCallError> {
        let text = |name: &str| answer.get(name).and_then(Value::as_str);
        let arrival = Arrival::Loaded { url: text("url").map_or_else(|| self.url(page), kept) };
        let Some(navigation) = text("navigation") else { return Ok(arrival) };
        let shown = self.link.until(|state| match state.page(page) {
            Some(page) if page.load.has_shown(navigation) => Some(true),
            Some(_) => state.downloads.iter().any(|download| download.id == navigation).then_some(false),
            None => Some(false),
        });
        match timeout(GLANCE_BOUND, shown).await {
            Ok(shown) => Ok(if shown? { arrival } else { Arrival::Download }),
            Err(_) if began() => Ok(Arrival::Download),
            Err(_) => Ok(Arrival::Refused { error: "the address has no page to show".to_owned() }),
        }
    }

    fn url(&self, page: &str) -> String {
        self.link.state().page(page).map(|page| page.load.url.clone()).unwrap_or_default()
    }

    pub(crate) async fn new_tab(&self, page: &str) -> Result<String, BrowserCallError> {
        let parameters = json!({"type": "tab", "referenceContext": page, "background": false});
        let answer = self.link.ask_browser("browsingContext.create", parameters).await?;
        let Some(context) = answer.get("context").and_then(Value::as_str) else {
            return Err(BrowserCallError::Failed("the browser opened no tab; look at the window".to_owned()));
        };
        let known = self.link.until(|state| state.page(context).map(|_| ()));
        timeout(LOAD_BOUND, known).await.unwrap_or_else(|_| {
            Err(BrowserCallError::Busy(
                "the new tab does not answer; look at the window before you repeat it".to_owned(),
            ))
        })?;
        Ok(context.to_owned())
    }

    pub(crate) async fn bounds(&self, page: &str) -> Option<BrowserWindowBounds> {
        let tree = json!({"root": page, "maxDepth": 0});
        let tree = self.link.ask_browser("browsingContext.getTree", tree).await.ok()?;
        let window = tree.pointer("/contexts/0/clientWindow")?;
        let windows = self.link.ask_browser("browser.getClientWindows", json!({})).await.ok()?;
        let windows = windows.get("clientWindows")?.as_array()?;
        let found = windows.iter().find(|known| known.get("clientWindow") == Some(window))?;
        let number = |name: &str| found.get(name).and_then(Value::as_i64);
        Some(BrowserWindowBounds {
            x: number("x")?,
            y: number("y")?,
            width: number("width")?,
            height: number("height")?,
        })
    }
}

/// A function that is called in the sandbox of a document.
pub(super) fn call_function(context: &str, function: &str, arguments: &[Value]) -> BrowserCommand {
    let parameters = json!({
        "functionDeclaration": function, "awaitPromise": false, "arguments": arguments, "resultOwnership": "none",
        "target": {"context": context, "sandbox": WORLD},
    });
    BrowserCommand::new("script.callFunction", parameters)
}
