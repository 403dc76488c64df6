//! The calls that act: answers of dialogs, and addresses.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use crate::{
    browser::BrowserConnection,
    page_state::{dialog_said, known, named},
    requests::{Arrival, FrameReadOptions, GLANCE_BOUND},
    titles::normalised,
    wire::{BrowserCallEffect, BrowserCallError, BrowserCallOutput},
};

/// Maximum time for a dialog to close.
const CLOSE_BOUND: Duration = Duration::from_secs(10);
/// Maximum length of a dialog's message in an error, in characters.
const MESSAGE_CHARACTERS_MAX: usize = 1_000;
/// The answers of a server from this one on are errors.
const STATUS_ERROR: u64 = 400;

/// Answers the dialog of a page: the one with that message, if one is given, since another one may have come.
pub(crate) async fn answer_dialog(
    browser: &BrowserConnection,
    page: &str,
    (accept, message): (bool, Option<&str>),
    text: Option<&str>,
) -> Result<BrowserCallOutput, BrowserCallError> {
    let before = known(browser, page)?;
    let Some(dialog) = before.dialog else {
        return Err(BrowserCallError::Invalid("the page shows no dialog; nothing was answered".to_owned()));
    };
    if message.is_some_and(|message| normalised(message) != normalised(&dialog.message)) {
        let says = crate::wire::cut(&dialog.message, MESSAGE_CHARACTERS_MAX);
        return Err(BrowserCallError::Invalid(format!("the dialog says {says:?}; give that as the message")));
    }
    if text.is_some() && dialog.kind != "prompt" {
        return Err(BrowserCallError::Invalid(format!(
            "the argument \"text\" is for prompt dialogs, but this is an {} dialog; leave it out",
            dialog.kind
        )));
    }
    // A prompt that is accepted as it is gets its default.
    let text = text.or(dialog.default.as_deref()).filter(|_| accept);
    browser.answer(page, accept, text).await?;
    let closed = browser.link().until(|state| match state.page(page) {
        Some(page) if page.closed_count > before.closed_count => Some(page.closed_dialogs.back().cloned()),
        Some(_) => None,
        // The page closed with its dialog.
        None => Some(None),
    });
    let asked = if accept { "accepted" } else { "dismissed" };
    let (seen, proof) = match timeout(CLOSE_BOUND, closed).await {
        Ok(closed) => match closed? {
            Some(closed) => {
                let got = match (&closed.text, closed.accepted) {
                    (Some(text), _) => format!("the text {text:?}"),
                    (None, true) => "OK".to_owned(),
                    (None, false) => "Cancel".to_owned(),
                };
                let as_asked =
                    closed.accepted == accept && (text.is_none() || closed.text.as_deref() == text);
                (as_asked, format!("the dialog closed and the page got {got}"))
            }
            None => (true, "the page closed with its dialog".to_owned()),
        },
        Err(_) => (false, "the dialog did not report that it closed".to_owned()),
    };
    let said =
        format!("The {} dialog {:?} was {asked}.", dialog.kind, crate::wire::cut(&dialog.message, 200));
    let output =
        json!({"answered": dialog, "dialog": known(browser, page).ok().and_then(|page| page.dialog)});
    Ok(BrowserCallOutput { said, output, effect: Some(BrowserCallEffect { seen, proof }) })
}

/// Opens an address in the page of a window or in a new tab of it.
pub(crate) async fn open_url(
    browser: &BrowserConnection,
    page: &str,
    url: &str,
    new_tab: bool,
) -> Result<BrowserCallOutput, BrowserCallError> {
    let opened = if new_tab { browser.new_tab(page).await? } else { page.to_owned() };
    let arrival = browser.navigate(&opened, url).await?;
    let refused = |said: String, output, proof: String| BrowserCallOutput {
        said,
        output,
        effect: Some(BrowserCallEffect { seen: false, proof }),
    };
    Ok(match arrival {
        Arrival::Loaded { url: final_url } => loaded(browser, &opened, url, &final_url).await,
        Arrival::StillLoading { url: shown } => refused(
            format!("The address {url} still loads; read the page later."),
            json!({"url": shown, "loading": true}),
            format!("the page did not finish loading; it shows {shown}"),
        ),
        Arrival::Refused { error } => {
            refused(format!("The address {url} was not opened: {error}."), json!({"error": error}), error)
        }
        Arrival::Download => refused(
            format!("The address {url} is a file that the browser downloads; see downloads."),
            json!({"download": true}),
            "a download began, the page stays".to_owned(),
        ),
        Arrival::Dialog => {
            let dialog = known(browser, &opened)?.dialog;
            let said = match &dialog {
                Some(dialog) => dialog_said(dialog),
                None => "The page showed a dialog".to_owned(),
            };
            let proof = "a dialog stopped the navigation; it goes on when the dialog is answered".to_owned();
            refused(format!("{said}; answer it with answer_dialog."), json!({"dialog": dialog}), proof)
        }
    })
}

async fn loaded(browser: &BrowserConnection, page: &str, asked: &str, final_url: &str) -> BrowserCallOutput {
    let wanted = FrameReadOptions { info: true, ..FrameReadOptions::default() };
    // A page that does not answer has loaded nevertheless.
    let reading =
        timeout(GLANCE_BOUND, browser.look(page, wanted)).await.ok().and_then(Result::ok).unwrap_or_default();
    let final_url = if reading.url.is_empty() { final_url } else { reading.url.as_str() };
    let mut said = format!("Opened {}", named(&reading.title, final_url));
    let mut proof = format!("the page has the address {final_url}");
    if !same(asked, final_url) {
        said.push_str(&format!(", to which {asked} leads"));
        proof.push_str(&format!(" (from {asked})"));
    }
    let bad_status = reading.status.filter(|status| *status >= STATUS_ERROR);
    if let Some(status) = bad_status {
        said.push_str(&format!("; the server answered with the error {status}"));
        proof.push_str(&format!("; the server answered {status}"));
    }
    said.push('.');
    let output = json!({"url": final_url, "title": reading.title, "status": reading.status});
    BrowserCallOutput { said, output, effect: Some(BrowserCallEffect { seen: true, proof }) }
}

fn same(one: &str, other: &str) -> bool {
    one.trim_end_matches('#') == other.trim_end_matches('#')
}
