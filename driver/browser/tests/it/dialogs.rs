//! Dialogs of pages.

use deskhand_browser::BrowserProtocol;
use serde_json::{Value, json};

use super::{browsers::Running, server::Server};

#[tokio::test]
async fn chromium_answers_dialogs() {
    answers(BrowserProtocol::Chromium).await;
}

#[tokio::test]
async fn firefox_answers_dialogs() {
    answers(BrowserProtocol::Firefox).await;
}

#[tokio::test]
async fn chromium_does_not_hang_behind_endless_alerts() {
    alerts(BrowserProtocol::Chromium).await;
}

#[tokio::test]
async fn firefox_does_not_hang_behind_endless_alerts() {
    alerts(BrowserProtocol::Firefox).await;
}

fn is_open(output: &Value) -> bool {
    !output["dialog"].is_null()
}

async fn answers(engine: BrowserProtocol) {
    let server = Server::start().await;
    let running = Running::start(engine, &server.url("/confirm")).await;
    let open = running.until("page_dialog", "Confirm", is_open).await;
    assert_eq!(open["output"], json!({"dialog": {"kind": "confirm", "message": "Really?"}, "closed": []}));
    for tool in ["read_page", "page_forms", "page_info"] {
        let behind = running.ok("Confirm", tool, json!({})).await;
        assert_eq!(behind["output"]["dialog"]["message"], "Really?", "{tool}");
        assert!(behind["output"]["text"].is_null());
        assert_eq!(
            behind["said"],
            "The page shows the confirm dialog \"Really?\"; the page cannot be read until it is answered with answer_dialog."
        );
    }
    running.ok("Confirm", "tabs", json!({})).await;
    let (kind, message) =
        running.refused("Confirm", "answer_dialog", json!({"accept": true, "text": "x"})).await;
    assert!(kind == "invalid" && message.contains("prompt"), "{message}");
    let other = json!({"accept": true, "message": "Really not?"});
    let (_, why) = running.refused("Confirm", "answer_dialog", other).await;
    assert!(why.contains("the dialog says \"Really?\""), "{why}");
    let answered =
        running.ok("Confirm", "answer_dialog", json!({"accept": false, "message": " Really? "})).await;
    assert_eq!(
        answered["effect"],
        json!({"seen": true, "proof": "the dialog closed and the page got Cancel"})
    );
    server.until("POST /got confirm false").await;
    let closed = running.ok("Confirm", "page_dialog", json!({})).await;
    assert_eq!(
        closed["output"],
        json!({"dialog": null, "closed": [{"kind": "confirm", "message": "Really?", "accepted": false}]})
    );
    let (kind, _) = running.refused("Confirm", "answer_dialog", json!({"accept": true})).await;
    assert_eq!(kind, "invalid");

    running.open("Confirm", &server.url("/prompt")).await;
    let open = running.until("page_dialog", "Prompt", is_open).await;
    assert_eq!(open["output"]["dialog"], json!({"kind": "prompt", "message": "Name?", "default": "Bob"}));
    let answered = running.ok("Prompt", "answer_dialog", json!({"accept": true, "text": "Eve \"x\""})).await;
    assert_eq!(answered["effect"]["seen"], true, "{answered}");
    server.until("POST /got prompt Eve \"x\"").await;
    running.open("Prompt", &server.url("/prompt")).await;
    running.until("page_dialog", "Prompt", is_open).await;
    running.ok("Prompt", "answer_dialog", json!({"accept": true})).await;
    server.until("POST /got prompt Bob").await;
    running.end().await;
}

async fn alerts(engine: BrowserProtocol) {
    let server = Server::start().await;
    let running = Running::start(engine, &server.url("/alerts")).await;
    for number in 0..8 {
        let message = format!("Number {number}");
        running.until("page_dialog", "Alerts", |output| output["dialog"]["message"] == message).await;
        running.ok("Alerts", "answer_dialog", json!({"accept": true})).await;
    }
    let closed = running.until("page_dialog", "Alerts", is_open).await;
    assert_eq!(closed["output"]["closed"].as_array().unwrap().len(), 5);
    // The address can be changed while the loop runs.
    running.call("Alerts", "open_url", json!({"url": server.url("/plain")})).await;
    running.end().await;
}
