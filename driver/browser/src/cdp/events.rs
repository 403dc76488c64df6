//! Events of Chromium.

use serde_json::{Value, json};

use crate::{
    link::{BrowserCommand, BrowserEvent, text},
    state::{BrowserDownload, BrowserPage, BrowserState, Dialog, DownloadState, FrameSession, kept},
};

/// Returns the initial commands, which subscribe to all pages and downloads. Pages wait until their events are
/// enabled, so none is missed.
pub(crate) fn first_messages() -> Vec<BrowserCommand> {
    let filter = json!([{"type": "page"}, {"exclude": true}]);
    vec![
        BrowserCommand::new("Target.setDiscoverTargets", json!({"discover": true, "filter": filter})),
        BrowserCommand::new("Target.setAutoAttach", auto_attach(&filter)),
        BrowserCommand::new(
            "Browser.setDownloadBehavior",
            json!({"behavior": "default", "eventsEnabled": true}),
        ),
    ]
}

fn auto_attach(filter: &Value) -> Value {
    json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": filter})
}

/// Takes an event into the state.
pub(crate) fn on_event(state: &mut BrowserState, event: &BrowserEvent) -> Vec<BrowserCommand> {
    let parameters = &event.parameters;
    match event.method.as_str() {
        "Target.attachedToTarget" => return attached(state, event),
        "Target.detachedFromTarget" => detached(state, text(parameters, "sessionId")),
        "Target.targetInfoChanged" => target_changed(state, parameters),
        "Target.targetDestroyed" => state.remove_page(text(parameters, "targetId")),
        "Browser.downloadWillBegin" => download_begins(state, parameters),
        "Browser.downloadProgress" => download_goes_on(state, parameters),
        // Events of pages, and those that nothing is done for.
        _ => {
            if let Some(page) = state.page_of_session(&event.session) {
                on_page_event(page, event);
            }
        }
    }
    Vec::new()
}

fn on_page_event(page: &mut BrowserPage, event: &BrowserEvent) {
    let parameters = &event.parameters;
    let is_main =
        page.main_session() == Some(event.session.as_str()) && text(parameters, "frameId") == page.id;
    match event.method.as_str() {
        "Page.javascriptDialogOpening" => {
            let kind = text(parameters, "type");
            page.dialog = Some(Dialog {
                kind: kind.to_owned(),
                message: kept(text(parameters, "message")),
                default: (kind == "prompt").then(|| kept(text(parameters, "defaultPrompt"))),
                session: event.session.clone(),
            });
        }
        "Page.javascriptDialogClosed" => {
            let accepted = parameters.get("result").and_then(Value::as_bool).unwrap_or(false);
            page.close_dialog(accepted, Some(kept(text(parameters, "userInput"))));
        }
        "Page.frameStartedNavigating" if is_main => {
            page.load.started = text(parameters, "loaderId").to_owned();
            page.load.loading = true;
        }
        "Page.frameStartedLoading" if is_main => page.load.loading = true,
        "Page.frameStoppedLoading" if is_main => page.load.loading = false,
        "Page.navigatedWithinDocument" if is_main => page.load.url = kept(text(parameters, "url")),
        "Page.frameNavigated" => {
            let frame = parameters.get("frame").unwrap_or(&Value::Null);
            if frame.get("parentId").is_none() && text(frame, "id") == page.id {
                page.load.show(text(frame, "loaderId"));
                page.load.url = kept(&format!("{}{}", text(frame, "url"), text(frame, "urlFragment")));
                // A document replaces the one whose dialog was open.
                page.close_dialog(false, None);
            }
        }
        // Chromium sends more than is needed.
        _ => {}
    }
}

/// Switches on the events of a page or frame, then lets it go on.
fn attached(state: &mut BrowserState, event: &BrowserEvent) -> Vec<BrowserCommand> {
    let parameters = &event.parameters;
    let info = parameters.get("targetInfo").unwrap_or(&Value::Null);
    let session = text(parameters, "sessionId").to_owned();
    let target = text(info, "targetId");
    let new = FrameSession { session: session.clone(), frame: target.to_owned(), parent: None };
    if text(info, "type") == "page" {
        if let Some(page) = state.page_or_new(target) {
            page.sessions.clear();
            page.add_session(new);
            describe(page, info);
        }
    } else if let Some(page) = state.page_of_session(&event.session) {
        let parent = info.get("parentFrameId").and_then(Value::as_str).map(str::to_owned);
        page.add_session(FrameSession { parent, ..new });
    }
    let frames = json!([{"type": "iframe"}, {"exclude": true}]);
    [
        ("Page.enable", json!({})),
        ("Target.setAutoAttach", auto_attach(&frames)),
        ("Runtime.runIfWaitingForDebugger", json!({})),
    ]
    .into_iter()
    .map(|(method, parameters)| BrowserCommand::new(method, parameters).in_session(&session))
    .collect()
}

fn detached(state: &mut BrowserState, session: &str) {
    if let Some(page) = state.page_of_session(session) {
        page.sessions.retain(|known| known.session != session);
        if page.dialog.as_ref().is_some_and(|dialog| dialog.session == session) {
            page.close_dialog(false, None);
        }
    }
    state.pages.retain(|page| !page.sessions.is_empty());
}

fn target_changed(state: &mut BrowserState, parameters: &Value) {
    let info = parameters.get("targetInfo").unwrap_or(&Value::Null);
    if let Some(page) = state.page_mut(text(info, "targetId")) {
        describe(page, info);
    }
}

fn describe(page: &mut BrowserPage, info: &Value) {
    page.title = kept(text(info, "title"));
    page.url = kept(text(info, "url"));
    page.in_advance = !text(info, "subtype").is_empty();
}

fn download_begins(state: &mut BrowserState, parameters: &Value) {
    let (file, url) = (text(parameters, "suggestedFilename"), text(parameters, "url"));
    state.add_download(BrowserDownload::begun(text(parameters, "guid"), file, url));
}

fn download_goes_on(state: &mut BrowserState, parameters: &Value) {
    let Some(download) = state.download_mut(text(parameters, "guid")) else { return };
    download.state = match text(parameters, "state") {
        "completed" => DownloadState::Completed,
        "canceled" => DownloadState::Canceled,
        // "inProgress", or a state that newer versions have.
        _ => DownloadState::InProgress,
    };
    download.bytes = whole(parameters, "receivedBytes");
    // 0 means unknown.
    download.total = whole(parameters, "totalBytes").filter(|total| *total > 0);
    if let Some(path) = parameters.get("filePath").and_then(Value::as_str) {
        download.saved_at(path);
    }
}

/// Chromium writes numbers of bytes with a fraction.
fn whole(parameters: &Value, name: &str) -> Option<u64> {
    let number = parameters.get(name)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
    number.as_u64().or_else(|| number.as_f64().map(|number| number as u64))
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
