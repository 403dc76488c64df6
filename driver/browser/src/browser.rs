//! Requests to a browser, independent of its engine.

use serde_json::json;

use crate::{
    bidi::Bidi,
    cdp::Cdp,
    compose::{FrameContent, FrameReading},
    geometry::BrowserWindowBounds,
    link::{BrowserClient, BrowserCommand},
    requests::{Arrival, FrameReadOptions},
    wire::BrowserCallError,
};

/// A connected browser.
#[derive(Debug, Clone)]
pub(crate) enum BrowserConnection {
    Chromium(Cdp),
    Firefox(Bidi),
}

impl BrowserConnection {
    pub(crate) fn link(&self) -> &BrowserClient {
        match self {
            Self::Chromium(cdp) => cdp.link(),
            Self::Firefox(bidi) => bidi.link(),
        }
    }

    /// Waits until the browser answers.
    pub(crate) async fn greet(&self) -> Result<(), BrowserCallError> {
        let method = match self {
            Self::Chromium(_) => "Browser.getVersion",
            Self::Firefox(_) => "browsingContext.getTree",
        };
        self.link().ask(BrowserCommand::new(method, json!({}))).await.map(|_| ())
    }

    /// The pages that are tabs; `None` if all are. Firefox also loads one in advance for the next new tab, which cannot be asked.
    pub(crate) async fn tabs(&self) -> Option<Vec<String>> {
        match self {
            Self::Chromium(_) => None,
            Self::Firefox(bidi) => bidi.tabs().await,
        }
    }

    /// Reads the page's own document.
    pub(crate) async fn look(
        &self,
        page: &str,
        wanted: FrameReadOptions,
    ) -> Result<FrameContent, BrowserCallError> {
        match self {
            Self::Chromium(cdp) => cdp.look(page, wanted).await,
            Self::Firefox(bidi) => bidi.look(page, wanted).await,
        }
    }

    /// Reads the documents of all frames; the page's own is the first.
    pub(crate) async fn read(
        &self,
        page: &str,
        wanted: FrameReadOptions,
    ) -> Result<Vec<FrameReading>, BrowserCallError> {
        match self {
            Self::Chromium(cdp) => cdp.read(page, wanted).await,
            Self::Firefox(bidi) => bidi.read(page, wanted).await,
        }
    }

    /// Answers the open dialog of a page.
    pub(crate) async fn answer(
        &self,
        page: &str,
        accept: bool,
        text: Option<&str>,
    ) -> Result<(), BrowserCallError> {
        match self {
            Self::Chromium(cdp) => cdp.answer(page, accept, text).await,
            Self::Firefox(bidi) => bidi.answer(page, accept, text).await,
        }
    }

    pub(crate) async fn navigate(&self, page: &str, url: &str) -> Result<Arrival, BrowserCallError> {
        match self {
            Self::Chromium(cdp) => cdp.navigate(page, url).await,
            Self::Firefox(bidi) => bidi.navigate(page, url).await,
        }
    }

    /// Opens an empty tab in the window of a page; returns its page.
    pub(crate) async fn new_tab(&self, page: &str) -> Result<String, BrowserCallError> {
        match self {
            Self::Chromium(cdp) => cdp.new_tab(page).await,
            Self::Firefox(bidi) => bidi.new_tab(page).await,
        }
    }

    /// Returns the bounds of a page's window on the screen.
    pub(crate) async fn bounds(&self, page: &str) -> Option<BrowserWindowBounds> {
        match self {
            Self::Chromium(cdp) => cdp.bounds(page).await,
            Self::Firefox(bidi) => bidi.bounds(page).await,
        }
    }
}
