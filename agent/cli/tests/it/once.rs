//! Requests to `deskhand serve` with an `Idempotency-Key`: carried out once, also when the service is killed meanwhile. What was started is
//! counted in the folder of the sessions and in their journals, not by what the service says.
//!
//! Skipped if the programs of a virtual desktop or the editor are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    thread::{park_timeout, scope},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    page::{Answer, BOUND, Ending, Service},
    people::GREETING,
    support::{World, has_desktop},
};

fn post(service: &Service, path: &str, key: &str, body: &Value) -> Answer {
    let bearer = service.bearer();
    let headers =
        [("Authorization", &*bearer), ("Content-Type", "application/json"), ("Idempotency-Key", key)];
    service.asks(&format!("POST {path}"), &headers, &body.to_string())
}

/// Waits until a folder has an entry.
fn wait_for_entry(folder: &Path) {
    let begun = Instant::now();
    while fs::read_dir(folder).map_or(0, Iterator::count) == 0 {
        assert!(begun.elapsed() < BOUND, "nothing comes to be in {}", folder.display());
        park_timeout(Duration::from_millis(5));
    }
}

fn sessions(world: &World) -> Vec<String> {
    let folder = fs::read_dir(world.path().join(".local/state/deskhand/sessions")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.starts_with('.')).collect()
}

fn stop(service: &Service, session: &str) {
    let stopped = service.post(&format!("/api/sessions/{session}/do"), &json!({"do": "stop", "now": true}));
    assert_eq!(stopped.status, 202, "{}", stopped.body);
    service.waits_for(session, |_, data| data["running"] == false);
}

#[test]
fn a_request_with_a_key_is_carried_out_once() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let _ending = Ending(&world);
    let script = world.file("turns.toml", GREETING);
    let service = Service::start(&world, &[]);
    let wanted = json!({"request": "write the greeting", "model": format!("script:{}", script.display())});
    // What begins nothing may be put right with the same key.
    assert_eq!(post(&service, "/api/sessions", "one", &json!({"request": ""})).status, 400);
    let first = scope(|scope| {
        let first = scope.spawn(|| post(&service, "/api/sessions", "one", &wanted));
        wait_for_entry(&world.path().join(".local/state/deskhand/serve/logs"));
        let early = post(&service, "/api/sessions", "one", &wanted);
        assert_eq!(early.status, 409, "{}", early.body);
        first.join().unwrap()
    });
    assert_eq!(first.status, 201, "{}", first.body);
    let id = first.json()["id"].as_str().unwrap().to_owned();
    let again = post(&service, "/api/sessions", "\"one\"", &wanted);
    assert_eq!((again.status, &again.body), (201, &first.body), "the key may stand in quotes");
    assert_eq!(post(&service, "/api/sessions", "one", &json!({"request": "else"})).status, 409);
    service.kill();
    let service = Service::start(&world, &[]);
    assert_eq!(post(&service, "/api/sessions", "one", &wanted).body, first.body);
    assert_eq!(post(&service, "/api/sessions", &"k".repeat(300), &wanted).status, 400);

    service.asked(&id, "questions");
    let say = json!({"do": "say", "text": "in green ink"});
    for _ in 0..3 {
        assert_eq!(post(&service, &format!("/api/sessions/{id}/do"), "words", &say).status, 202);
    }
    stop(&service, &id);
    assert_eq!(sessions(&world), std::slice::from_ref(&id));
    let journal = fs::read_to_string(
        world.path().join(".local/state/deskhand/sessions").join(&id).join("journal.jsonl"),
    );
    let said = journal
        .unwrap()
        .lines()
        .filter(|line| line.contains("told") && line.contains("in green ink"))
        .count();
    assert_eq!(said, 1, "what was said is told once");
    service.kill();
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn a_session_is_started_once_though_the_service_is_killed_as_it_begins() {
    if !has_desktop() {
        return;
    }
    let world = World::new();
    let _ending = Ending(&world);
    let script = world.file("turns.toml", GREETING);
    let service = Service::start(&world, &[]);
    let wanted = json!({"request": "write the greeting", "model": format!("script:{}", script.display())});
    let body = wanted.to_string();
    let mut stream = TcpStream::connect(&service.address).unwrap();
    let head = format!(
        "POST /api/sessions HTTP/1.1\r\nHost: {}\r\nAuthorization: {}\r\nContent-Type: application/json\r\n\
         Idempotency-Key: two\r\nContent-Length: {}\r\n\r\n{body}",
        service.address,
        service.bearer(),
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    wait_for_entry(&world.path().join(".local/state/deskhand/serve/logs"));
    service.kill();
    assert!(!matches!(stream.read(&mut [0; 1]), Ok(1..)), "it was answered too early for this test");

    let service = Service::start(&world, &[]);
    let answer = post(&service, "/api/sessions", "two", &wanted);
    assert_eq!(answer.status, 201, "{}", answer.body);
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    service.asked(&id, "questions");
    assert_eq!(post(&service, "/api/sessions", "two", &wanted).body, answer.body);
    assert_eq!(sessions(&world), std::slice::from_ref(&id));
    stop(&service, &id);
    service.kill();
    assert_eq!(world.orphans(), Vec::<String>::new());
}
