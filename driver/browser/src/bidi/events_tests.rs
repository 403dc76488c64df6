//! Events as the browser sends them, one after the other, and what is kept of them.

use super::*;

fn send(state: &mut BrowserState, method: &str, parameters: Value) -> Vec<&'static str> {
    let event =
        BrowserEvent { method: format!("browsingContext.{method}"), parameters, session: String::new() };
    on_event(state, &event).into_iter().map(|message| message.method).collect()
}

fn with_page() -> BrowserState {
    let mut state = BrowserState::default();
    let created = json!({"context": "p", "parent": null, "url": "about:blank"});
    assert_eq!(send(&mut state, "contextCreated", created), ["script.callFunction"]);
    send(&mut state, "contextCreated", json!({"context": "f", "parent": "p", "url": "http://f/"}));
    state
}

#[test]
fn the_title_is_asked_for_when_a_document_is_shown() {
    let mut state = with_page();
    let started = json!({"context": "p", "navigation": "n", "url": "http://a/"});
    assert!(send(&mut state, "navigationStarted", started.clone()).is_empty());
    assert!(state.page("p").unwrap().load.loading);
    assert_eq!(send(&mut state, "navigationCommitted", started.clone()), ["script.callFunction"]);
    take_title(&mut state, "p", &json!({"result": {"type": "string", "value": "T"}}));
    assert_eq!(send(&mut state, "load", started).len(), 1);
    let page = state.page("p").unwrap();
    assert_eq!((page.title.as_str(), page.url.as_str(), page.load.loading), ("T", "http://a/", false));
}

#[test]
fn a_navigation_that_another_one_replaced_does_not_end_the_wait() {
    let mut state = with_page();
    send(&mut state, "navigationStarted", json!({"context": "p", "navigation": "2", "url": "http://b/"}));
    send(&mut state, "navigationFailed", json!({"context": "p", "navigation": "1", "url": "http://a/"}));
    assert!(state.page("p").unwrap().load.loading);
    send(&mut state, "navigationStarted", json!({"context": "f", "navigation": "3", "url": "http://c/"}));
    send(&mut state, "load", json!({"context": "f", "navigation": "3", "url": "http://c/"}));
    assert!(state.page("p").unwrap().load.loading);
}

#[test]
fn dialogs_of_frames_belong_to_their_page() {
    let mut state = with_page();
    send(&mut state, "userPromptOpened", json!({"context": "f", "type": "confirm", "message": "m"}));
    assert_eq!(state.page("p").unwrap().dialog.as_ref().unwrap().message, "m");
    send(&mut state, "userPromptClosed", json!({"context": "f", "type": "confirm", "accepted": true}));
    assert!(state.page("p").unwrap().closed_dialogs[0].accepted);
    send(&mut state, "contextDestroyed", json!({"context": "p"}));
    assert!(state.pages.is_empty());
}

#[test]
fn downloads_end_with_their_file() {
    let mut state = BrowserState::default();
    let begins = json!({"context": "p", "navigation": "n", "url": "http://a/f", "suggestedFilename": "f"});
    send(&mut state, "downloadWillBegin", begins);
    let ends = json!({"context": "p", "navigation": "n", "status": "complete", "filepath": "/d/f"});
    send(&mut state, "downloadEnd", ends);
    assert_eq!(state.downloads[0].state, DownloadState::Completed);
    assert_eq!(state.downloads[0].path.as_deref(), Some("/d/f"));
}
