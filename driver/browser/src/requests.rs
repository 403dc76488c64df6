//! Requests and their results, the same for both engines.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::{compose::FrameContent, wire::BrowserCallError};

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

/// Parses the value returned by the script.
pub(crate) fn reading(text: &Value) -> Result<FrameContent, BrowserCallError> {
    text.as_str().and_then(|text| serde_json::from_str(text).ok()).ok_or_else(|| {
        BrowserCallError::Failed("the page could not be read; look at it and try again".to_owned())
    })
}
