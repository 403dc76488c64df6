//! Events of Firefox.

use serde_json::{Value, json};

use super::act::call_function;
use crate::{
    link::{BrowserCommand, BrowserEvent, text},
    state::{BrowserDownload, BrowserPage, BrowserState, Dialog, DownloadState, FrameSession, kept},
};

/// The events that are needed. Each is asked for alone, since one that a version does not know would spoil the others.
const EVENTS: [&str; 14] = [
    "browsingContext.contextCreated",
    "browsingContext.contextDestroyed",
    "browsingContext.navigationStarted",
    "browsingContext.navigationCommitted",
    "browsingContext.navigationFailed",
    "browsingContext.navigationAborted",
    "browsingContext.fragmentNavigated",
    "browsingContext.historyUpdated",
    "browsingContext.domContentLoaded",
    "browsingContext.load",
    "browsingContext.userPromptOpened",
    "browsingContext.userPromptClosed",
    "browsingContext.downloadWillBegin",
    "browsingContext.downloadEnd",
];
/// Reads the title alone.
const TITLE: &str = "function () { return document.title }";

/// Takes the only session; dialogs are left to the user and to `answer_dialog`.
pub(crate) fn first_messages() -> Vec<BrowserCommand> {
    let capabilities = json!({"alwaysMatch": {"unhandledPromptBehavior": {"default": "ignore"}}});
    let session = BrowserCommand::new("session.new", json!({"capabilities": capabilities}));
    let events =
        EVENTS.iter().map(|event| BrowserCommand::new("session.subscribe", json!({"events": [event]})));
    std::iter::once(session).chain(events).collect()
}

/// Takes an event into the state.
pub(crate) fn on_event(state: &mut BrowserState, event: &BrowserEvent) -> Vec<BrowserCommand> {
    let parameters = &event.parameters;
    let context = text(parameters, "context");
    match event.method.as_str() {
        "browsingContext.contextCreated" => return created(state, parameters),
        "browsingContext.contextDestroyed" => destroyed(state, context),
        "browsingContext.downloadWillBegin" => download_begins(state, parameters),
        "browsingContext.downloadEnd" => download_ends(state, parameters),
        "browsingContext.userPromptOpened" | "browsingContext.userPromptClosed" => {
            if let Some(page) = page_of(state, context) {
                on_dialog(page, event);
            }
        }
        // What is left is about navigations; those of frames do not matter.
        _ => {
            if let Some(page) = state.page_mut(context) {
                return on_navigation(page, event);
            }
        }
    }
    Vec::new()
}

fn on_navigation(page: &mut BrowserPage, event: &BrowserEvent) -> Vec<BrowserCommand> {
    let parameters = &event.parameters;
    let navigation = text(parameters, "navigation");
    let url = kept(text(parameters, "url"));
    match event.method.as_str() {
        "browsingContext.navigationStarted" => {
            page.load.started = navigation.to_owned();
            page.load.loading = true;
            return Vec::new();
        }
        "browsingContext.navigationFailed" | "browsingContext.navigationAborted" => {
            // One that another navigation has replaced says nothing about that one.
            if page.load.started == navigation {
                page.load.loading = false;
            }
            return Vec::new();
        }
        "browsingContext.navigationCommitted" => {
            // A document replaces the one whose dialog was open.
            page.close_dialog(false, None);
            page.title = String::new();
        }
        "browsingContext.load" => page.load.loading = false,
        // Fragments, changes of the history, and the document without its images.
        _ => {}
    }
    page.url.clone_from(&url);
    page.load.url = url;
    if !navigation.is_empty() && page.load.id != navigation {
        page.load.show(navigation);
    }
    vec![ask_title(&page.id)]
}

/// The title is not part of any event, and cannot be asked for while a dialog is open.
fn ask_title(page: &str) -> BrowserCommand {
    let on_answer = Some((take_title as fn(&mut BrowserState, &str, &Value), page.to_owned()));
    BrowserCommand { on_answer, ..call_function(page, TITLE, &[]) }
}

fn take_title(state: &mut BrowserState, page: &str, answer: &Value) {
    let title = answer.pointer("/result/value").and_then(Value::as_str);
    if let (Some(page), Some(title)) = (state.page_mut(page), title) {
        page.title = kept(title);
    }
}

fn on_dialog(page: &mut BrowserPage, event: &BrowserEvent) {
    let parameters = &event.parameters;
    if event.method == "browsingContext.userPromptOpened" {
        let kind = text(parameters, "type");
        page.dialog = Some(Dialog {
            kind: kind.to_owned(),
            message: kept(text(parameters, "message")),
            default: (kind == "prompt").then(|| kept(text(parameters, "defaultValue"))),
            session: text(parameters, "context").to_owned(),
        });
    } else {
        let accepted = parameters.get("accepted").and_then(Value::as_bool).unwrap_or(false);
        page.close_dialog(accepted, Some(kept(text(parameters, "userText"))));
    }
}

fn created(state: &mut BrowserState, parameters: &Value) -> Vec<BrowserCommand> {
    let context = text(parameters, "context");
    if let Some(parent) = parameters.get("parent").and_then(Value::as_str) {
        if let Some(page) = page_of(state, parent) {
            let parent = Some(parent.to_owned());
            page.add_session(FrameSession { session: String::new(), frame: context.to_owned(), parent });
        }
        return Vec::new();
    }
    let Some(page) = state.page_or_new(context) else { return Vec::new() };
    page.url = kept(text(parameters, "url"));
    page.load.url.clone_from(&page.url);
    vec![ask_title(context)]
}

fn destroyed(state: &mut BrowserState, context: &str) {
    state.remove_page(context);
    if let Some(page) = page_of(state, context) {
        page.sessions.retain(|known| known.frame != context);
    }
}

/// The page of a frame, or the page itself.
fn page_of<'a>(state: &'a mut BrowserState, context: &str) -> Option<&'a mut BrowserPage> {
    state
        .pages
        .iter_mut()
        .find(|page| page.id == context || page.sessions.iter().any(|known| known.frame == context))
}

fn download_begins(state: &mut BrowserState, parameters: &Value) {
    let (file, url) = (text(parameters, "suggestedFilename"), text(parameters, "url"));
    state.add_download(BrowserDownload::begun(download_id(parameters), file, url));
}

fn download_ends(state: &mut BrowserState, parameters: &Value) {
    let Some(download) = state.download_mut(&download_id(parameters)) else { return };
    download.state = match text(parameters, "status") {
        "complete" => DownloadState::Completed,
        // "canceled", also for those that failed.
        _ => DownloadState::Canceled,
    };
    if let Some(path) = parameters.get("filepath").and_then(Value::as_str) {
        download.saved_at(path);
    }
}

fn download_id(parameters: &Value) -> String {
    let id = parameters.get("navigation").or_else(|| parameters.get("download")).and_then(Value::as_str);
    id.unwrap_or_else(|| text(parameters, "url")).to_owned()
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
