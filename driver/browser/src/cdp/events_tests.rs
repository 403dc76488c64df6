//! Events as the browser sends them, one after the other, and what is kept of them.

use super::*;

fn send(state: &mut BrowserState, session: &str, method: &str, parameters: Value) -> Vec<&'static str> {
    let event = BrowserEvent { method: method.to_owned(), parameters, session: session.to_owned() };
    on_event(state, &event).into_iter().map(|message| message.method).collect()
}

fn with_page() -> BrowserState {
    let mut state = BrowserState::default();
    let info = json!({"targetId": "p", "type": "page", "title": "T\u{202e}", "url": "http://a/"});
    let answers =
        send(&mut state, "", "Target.attachedToTarget", json!({"sessionId": "s", "targetInfo": info}));
    assert_eq!(answers, ["Page.enable", "Target.setAutoAttach", "Runtime.runIfWaitingForDebugger"]);
    state
}

#[test]
fn a_page_is_followed_until_it_is_closed() {
    let mut state = with_page();
    assert_eq!(state.page("p").unwrap().title, "T");
    let info = json!({"targetId": "p", "type": "page", "title": "U", "url": "http://b/"});
    send(&mut state, "", "Target.targetInfoChanged", json!({"targetInfo": info}));
    assert_eq!(state.page("p").unwrap().url, "http://b/");

    let info = json!({"targetId": "f", "type": "iframe", "parentFrameId": "p"});
    send(&mut state, "s", "Target.attachedToTarget", json!({"sessionId": "t", "targetInfo": info}));
    assert_eq!(state.page("p").unwrap().sessions.len(), 2);
    send(&mut state, "s", "Target.detachedFromTarget", json!({"sessionId": "t"}));
    assert_eq!(state.page("p").unwrap().sessions.len(), 1);
    send(&mut state, "", "Target.detachedFromTarget", json!({"sessionId": "s"}));
    assert!(state.pages.is_empty());
}

#[test]
fn dialogs_open_and_close() {
    let mut state = with_page();
    let opening = json!({"type": "prompt", "message": "m", "defaultPrompt": "d"});
    send(&mut state, "s", "Page.javascriptDialogOpening", opening);
    assert_eq!(state.page("p").unwrap().dialog.as_ref().unwrap().default.as_deref(), Some("d"));
    send(&mut state, "s", "Page.javascriptDialogClosed", json!({"result": true, "userInput": "x"}));
    let page = state.page("p").unwrap();
    assert_eq!((page.dialog.is_none(), page.closed_dialogs[0].text.as_deref()), (true, Some("x")));
}

#[test]
fn navigations_of_frames_are_not_those_of_the_page() {
    let mut state = with_page();
    send(&mut state, "s", "Page.frameStartedLoading", json!({"frameId": "p"}));
    let frame = json!({"id": "f", "parentId": "p", "loaderId": "1", "url": "http://f/"});
    send(&mut state, "s", "Page.frameNavigated", json!({"frame": frame}));
    let frame = json!({"id": "p", "loaderId": "2", "url": "http://b/", "urlFragment": "#c"});
    send(&mut state, "s", "Page.frameNavigated", json!({"frame": frame}));
    send(&mut state, "s", "Page.frameStoppedLoading", json!({"frameId": "f"}));
    let load = &state.page("p").unwrap().load;
    assert_eq!((load.id.as_str(), load.url.as_str(), load.loading), ("2", "http://b/#c", true));
}

#[test]
fn downloads_have_their_file_in_the_end() {
    let mut state = BrowserState::default();
    let begin = json!({"guid": "g", "url": "http://a/f", "suggestedFilename": "f.txt"});
    send(&mut state, "", "Browser.downloadWillBegin", begin);
    let progress = json!({"guid": "g", "state": "completed", "receivedBytes": 3.0, "totalBytes": 0.0, "filePath": "/d/f (1).txt"});
    send(&mut state, "", "Browser.downloadProgress", progress);
    let download = &state.downloads[0];
    assert_eq!(
        (download.file.as_str(), download.state, download.bytes, download.total),
        ("f (1).txt", DownloadState::Completed, Some(3), None)
    );
}
