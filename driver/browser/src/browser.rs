//! Requests to a browser, independent of its engine.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    bidi::Bidi,
    cdp::Cdp,
    compose::{FrameContent, FrameReading},
    geometry::BrowserWindowBounds,
    link::{BrowserClient, BrowserCommand},
    wire::BrowserCallError,
};

/// The script that reads a document, for both engines.
pub(crate) const SCRIPT: &str = include_str!("read.js");
/// The name of the world in which it runs.
pub(crate) const WORLD: &str = "deskhand";
/// The most frames of a page that are read.
pub(crate) const FRAMES_MAX: usize = 100;
/// Maximum time until a page reports its visibility.
pub(crate) const GLANCE_BOUND: Duration = Duration::from_secs(3);
/// Maximum time for loading a page.
pub(crate) const LOAD_BOUND: Duration = Duration::from_secs(20);

/// Selects the parts of a page that the script reads.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct FrameReadOptions {
    pub(crate) text: bool,
    pub(crate) fields: bool,
    pub(crate) info: bool,
    /// The windows of frames follow the text.
    pub(crate) windows: bool,
}

/// Outcome of a navigation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Arrival {
    Loaded { url: String },
    StillLoading { url: String },
    Refused { error: String },
    Download,
    Dialog,
}

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

/// Parses the value returned by the script.
pub(crate) fn reading(text: &Value) -> Result<FrameContent, BrowserCallError> {
    text.as_str().and_then(|text| serde_json::from_str(text).ok()).ok_or_else(|| {
        BrowserCallError::Failed("the page could not be read; look at it and try again".to_owned())
    })
}
