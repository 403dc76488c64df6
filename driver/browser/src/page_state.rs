//! The state of a page, and how it is said.

use crate::{
    browser::BrowserConnection,
    state::{BrowserPage, Dialog},
    wire::{BrowserCallError, cut},
};

/// The longest title or message in a sentence, in characters.
const SAID_CHARACTERS_MAX: usize = 200;

/// Returns the state of a page as reported by the browser.
pub(crate) fn known(browser: &BrowserConnection, page: &str) -> Result<BrowserPage, BrowserCallError> {
    let state = browser.link().state();
    state.page(page).cloned().ok_or_else(|| {
        BrowserCallError::NoDocument("the page was closed; look at the windows again".to_owned())
    })
}

/// A sentence about an open dialog.
pub(crate) fn dialog_said(dialog: &Dialog) -> String {
    match dialog.kind.as_str() {
        "beforeunload" => "The page asks whether to leave it (beforeunload dialog)".to_owned(),
        // "alert", "confirm", "prompt".
        kind => format!("The page shows the {kind} dialog {:?}", cut(&dialog.message, SAID_CHARACTERS_MAX)),
    }
}

/// The page in a sentence.
pub(crate) fn named(title: &str, url: &str) -> String {
    format!("the page {:?} ({})", cut(title, SAID_CHARACTERS_MAX), cut(url, SAID_CHARACTERS_MAX))
}
