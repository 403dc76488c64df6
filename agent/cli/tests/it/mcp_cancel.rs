//! Calls over MCP that are cancelled, repeated, or take long. The file that the editor saves judges.

use std::fs;

use serde_json::{Value, json};

use crate::{
    mcp_peer::{Peer, text, typing},
    support::{World, has_desktop, has_programs},
};

/// Something that is waited for longer than any test.
fn long_wait() -> Value {
    json!({"tool": "wait_for", "arguments": {"title": "what never shows", "seconds": 60}})
}

/// The text in the editor, as it saves it.
fn saved(peer: &mut Peer, world: &World) -> String {
    let file = world.path().join("note.txt");
    peer.does(
        "act",
        json!({"actions": [{"tool": "save_as", "arguments": {"path": file, "overwrite": true}}]}),
    );
    fs::read_to_string(&file).unwrap().trim_end().to_owned()
}

#[test]
fn a_cancelled_call_stops_and_the_next_one_reports_what_it_did() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let mut peer = Peer::start(&world, json!({}));
    peer.with_editor();
    let unwanted = world.path().join("unwanted.txt");
    let actions = json!({"actions": [
        {"tool": "type_text", "arguments": {"text": "first"}},
        long_wait(),
        {"tool": "type_text", "arguments": {"text": " second"}},
        {"tool": "save_as", "arguments": {"path": unwanted}},
    ]});
    let id = peer.post_call("act", actions, json!({"progressToken": "p"}));
    let waits =
        |message: &Value| message["params"]["message"].as_str().is_some_and(|said| said.contains("wait for"));
    peer.wait("progress of the wait", waits);
    peer.cancel(id);
    // The desktop is free long before the wait would have ended, and the answer tells what was done.
    let looked = peer.does("look", json!({}));
    assert!(looked.contains("did not reach you"), "{looked}");
    assert!(looked.contains("1. type_text: seen") && looked.contains("2. wait_for"), "{looked}");
    assert!(looked.contains("the call was cancelled"), "{looked}");
    assert!(!looked.contains("3. type_text: seen"), "{looked}");
    let again = peer.does("look", json!({}));
    assert!(!again.contains("did not reach you"), "{again}");
    assert_eq!(saved(&mut peer, &world), "first");
    assert!(!unwanted.exists());
    // No answer is sent to a request that was cancelled.
    assert!(
        peer.notified("notifications/progress")
            .iter()
            .all(|(_, told)| told["params"]["progressToken"] == "p")
    );
    assert_eq!(peer.close(), (Some(0), String::new()));
    let replayed = world.run(&["replay", "last"]);
    assert!(replayed.starts_with("exit 0"), "{replayed}");
    assert_eq!(world.processes(), [], "processes are left");
}

#[test]
fn a_text_that_is_cancelled_in_its_middle_is_reported_to_the_character() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let mut peer = Peer::start(&world, json!({}));
    peer.with_editor();
    let long: String = ('a'..='z').cycle().take(1_500).collect();
    let id = peer.post_call("act", typing(&long), json!({"progressToken": "p"}));
    peer.wait("progress of the text", |message| {
        message["params"]["message"].as_str().is_some_and(|said| said.contains("type"))
    });
    peer.cancel(id);
    let looked = peer.does("look", json!({}));
    let typed = saved(&mut peer, &world);
    assert!(long.starts_with(&typed), "{typed}");
    let reported = looked.contains("did not reach you");
    if typed.len() < long.len() && !typed.is_empty() {
        assert!(
            reported && looked.contains(&format!("{} of 1,500 characters", typed.len())),
            "{}: {looked}",
            typed.len()
        );
    }
    assert_eq!(peer.close().0, Some(0));
}

#[test]
fn a_client_that_gives_up_and_tries_again_does_not_do_it_twice() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let mut peer = Peer::start(&world, json!({}));
    peer.with_editor();
    let actions = json!({"actions": [{"tool": "type_text", "arguments": {"text": "once"}}, long_wait()]});
    let id = peer.post_call("act", actions.clone(), json!({"progressToken": "p"}));
    peer.wait("progress of the wait", |message| {
        message["params"]["message"].as_str().is_some_and(|said| said.contains("wait for"))
    });
    peer.cancel(id);
    let refused = peer.fails("act", actions);
    assert!(refused.contains("1. type_text: seen") && refused.contains("nothing was done now"), "{refused}");
    assert_eq!(saved(&mut peer, &world), "once");
    // Another call of the same is meant.
    peer.does("act", typing(" more"));
    peer.does("act", typing(" more"));
    assert_eq!(saved(&mut peer, &world), "once more more");
    assert_eq!(peer.close().0, Some(0));
}

#[test]
fn a_repeated_call_is_answered_and_not_repeated() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let mut peer = Peer::start(&world, json!({}));
    peer.with_editor();
    // By a key of the client's own.
    let key = json!({"deskhand/idempotencyKey": "k1"});
    let first = peer.post_call("act", typing("by key"), key.clone());
    let first = peer.answer(first)["result"].clone();
    let second = peer.post_call("act", typing("by key"), key.clone());
    assert_eq!(peer.answer(second)["result"], first);
    let other = peer.post_call("act", typing("something else"), key);
    let other = peer.answer(other);
    assert_eq!(other["error"]["code"], -32602, "{other}");
    // By the id of the request, also while it runs.
    let message = json!({"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": {"name": "act", "arguments": typing(", by id")}});
    peer.send(message.clone());
    let (_, answered) = peer.wait("answer", |message| message["id"] == "same");
    assert!(text(&answered["result"]).contains("seen"), "{answered}");
    peer.send(message);
    let (_, again) = peer.wait("answer", |message| message["id"] == "same");
    assert_eq!(again, answered);
    assert_eq!(saved(&mut peer, &world), "by key, by id");
    assert_eq!(peer.close().0, Some(0));
}

#[test]
fn progress_is_told_at_least_every_second() {
    if !has_desktop() || !has_programs(&["mousepad"]) {
        return;
    }
    let world = World::new();
    let mut peer = Peer::start(&world, json!({}));
    peer.with_editor();
    let wait =
        json!({"actions": [{"tool": "wait_for", "arguments": {"title": "what never shows", "seconds": 5}}]});
    let id = peer.post_call("act", wait, json!({"progressToken": 7}));
    let answer = peer.answer(id);
    assert!(text(&answer["result"]).contains("wait_for"), "{answer}");
    let told = peer.notified("notifications/progress");
    assert!(told.len() >= 5, "{told:?}");
    let steps: Vec<f64> = told.iter().map(|(_, told)| told["params"]["progress"].as_f64().unwrap()).collect();
    assert!(steps.is_sorted_by(|one, two| one < two), "{steps:?}");
    assert!(told.iter().all(|(_, told)| told["params"]["progressToken"] == 7), "{told:?}");
    let longest = told.windows(2).map(|pair| pair[1].0 - pair[0].0).max().unwrap();
    assert!(longest.as_secs() < 2, "{longest:?} without a word");
    // Without a token there is none.
    peer.does("windows", json!({}));
    assert!(peer.notified("notifications/progress").is_empty());
    assert_eq!(peer.close().0, Some(0));
}
