//! Batches on the page: started there or in a terminal, watched, stopped, gone on with, and found again by a service that was killed.
//! Judged by the files of the results.
//!
//! Skipped if the programs of a virtual desktop are not installed, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    fs,
    path::PathBuf,
    thread::park_timeout,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    page::{BOUND, Ending, Service},
    starting::{scripted, started, wrong},
    support::{World, has_desktop},
};

/// An agent that does what it is told to only after a question is answered.
const ASKS: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '{"observation": "nothing", "thought": "I must ask", "status": "PENDING", "questions": ["Go on?"]}'

[[turn]]
agent = "HostAgent"
reply = '{"observation": "nothing", "thought": "done", "status": "FINISH", "result": "went on"}'
"#;

/// Asks again and again until an answer is as it has to be.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < BOUND, "{what} does not come");
        park_timeout(Duration::from_millis(50));
    }
}

fn batch(service: &Service, id: &str) -> Value {
    let answer = service.get(&format!("/api/batches/{id}"));
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

/// The states of the tasks of a batch.
fn states(batch: &Value) -> Vec<String> {
    let tasks = batch["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["state"].as_str().unwrap().to_owned()).collect()
}

/// Waits until the tasks of a batch have these states.
fn come_to(service: &Service, id: &str, wanted: &[&str]) -> Value {
    let mut last = Vec::new();
    until(&format!("{wanted:?}"), || {
        let batch = batch(service, id);
        let states = states(&batch);
        if last != states {
            eprintln!("{states:?}");
            last.clone_from(&states);
        }
        (states == wanted).then_some(batch)
    })
}

fn answer(service: &Service, batch: &Value, task: usize) {
    let session = batch["tasks"][task]["session"].as_str().unwrap();
    let asked = service.asked(session, "questions");
    let line = json!({"do": "answer", "id": asked["id"], "answers": ["yes"]});
    assert_eq!(service.post(&format!("/api/sessions/{session}/do"), &line).status, 202);
}

/// The results on disk: id and outcome.
fn results(folder: &str) -> Vec<(String, String)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|kind| kind == "json"));
    let mut all: Vec<(String, String)> = files
        .map(|file: PathBuf| {
            let result: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
            (result["id"].as_str().unwrap().to_owned(), result["outcome"].as_str().unwrap().to_owned())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn a_batch_is_watched_stopped_and_gone_on_with_and_outlives_the_service() {
    if !has_desktop() {
        return;
    }
    let world = scripted(ASKS);
    let _ending = Ending(&world);
    let service = Service::start(&world, &[]);
    let start = |wanted: Value| service.post("/api/batches", &wanted);
    assert_eq!(wrong(&start(json!({"tasks": []}))), (400, "tasks".to_owned()));
    assert_eq!(
        wrong(&start(json!({"tasks": [{"request": "x"}], "parallel": 99}))),
        (400, "parallel".to_owned())
    );
    let bad = start(json!({"tasks": [{"request": "x"}, {"request": "y", "limits": {"steps": 3}}]}));
    assert_eq!(wrong(&bad), (409, "tasks".to_owned()));
    assert!(bad.body.contains("tasks.jsonl:2"), "{}", bad.body);
    let stolen = start(json!({"tasks": [{"request": "x"}], "documents": ["/etc/passwd"]}));
    assert_eq!(wrong(&stolen), (409, "documents".to_owned()));
    for id in ["..%2fserve%2fkeys", "%2e%2e", "nothing", "0"] {
        assert_eq!(service.get(&format!("/api/batches/{id}")).status, 404, "{id}");
        assert_eq!(service.get(&format!("/batches/{id}")).status, 404, "{id}");
    }

    let tasks = json!([
        {"request": "the first", "id": "one"}, {"request": "<script>alert(1)</script>", "id": "two"},
        {"request": "the third", "id": "three"}
    ]);
    let id = started(&start(json!({"tasks": tasks, "parallel": 2})));
    let now = come_to(&service, &id, &["running", "running", "waiting"]);
    assert_eq!(wrong(&service.post(&format!("/api/batches/{id}/resume"), &json!({}))).0, 409, "it runs");
    let page = service.get(&format!("/batches/{id}")).body;
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"), "{page}");

    // The service is gone and comes again; the batch has not noticed.
    service.kill();
    let service = Service::start(&world, &[]);
    let listed = service.get("/api/batches").json();
    assert_eq!((&listed[0]["id"], &listed[0]["running"]), (&json!(id), &json!(true)), "{listed}");
    answer(&service, &now, 0);
    let now = come_to(&service, &id, &["finished", "running", "running"]);
    assert_eq!(results(now["results"].as_str().unwrap()), [("one".to_owned(), "finished".to_owned())]);
    service.asked(now["tasks"][2]["session"].as_str().unwrap(), "questions");
    assert_eq!(service.post(&format!("/api/batches/{id}/stop"), &json!({})).status, 202);
    let now = come_to(&service, &id, &["finished", "cancelled", "cancelled"]);
    until("its end", || (batch(&service, &id)["running"] == false).then_some(()));
    assert_eq!(service.post(&format!("/api/batches/{id}/stop"), &json!({})).status, 409);

    let again = started(&service.post(&format!("/api/batches/{id}/resume"), &json!({})));
    assert_eq!(service.get(&format!("/api/batches/{id}")).status, 404, "the next run takes its place");
    let next = come_to(&service, &again, &["finished", "running", "running"]);
    assert_eq!(next["results"], now["results"]);
    answer(&service, &next, 1);
    answer(&service, &next, 2);
    come_to(&service, &again, &["finished"; 3]);
    let done = |id: &str| (id.to_owned(), "finished".to_owned());
    assert_eq!(results(next["results"].as_str().unwrap()), [done("one"), done("three"), done("two")]);
    until("its end", || (batch(&service, &again)["running"] == false).then_some(()));
    let forget = |id: &str| {
        service.asks(&format!("DELETE /api/batches/{id}"), &[("Authorization", &service.bearer())], "").status
    };
    assert_eq!((forget(&again), forget(&again)), (204, 404));
    service.kill();
    assert_eq!(world.orphans(), Vec::<String>::new());
}

#[test]
fn a_batch_of_a_terminal_is_on_the_page() {
    if !has_desktop() {
        return;
    }
    let world: World = scripted(
        &ASKS.replace("\"PENDING\", \"questions\": [\"Go on?\"]", "\"FINISH\", \"result\": \"done\""),
    );
    world.file("tasks/one.txt", "look at the desktop");
    let shown = world.run(&["batch", "--trust", "tasks", "--desktop", "virtual"]);
    assert!(shown.starts_with("exit 0\n"), "{shown}");
    let service = Service::start(&world, &[]);
    let listed = service.get("/api/batches").json();
    assert_eq!(listed[0]["finished"], 1, "{listed}");
    let id = listed[0]["id"].as_str().unwrap();
    let task = &batch(&service, id)["tasks"][0];
    assert_eq!((&task["state"], &task["request"]), (&json!("finished"), &json!("look at the desktop")));
    assert!(service.get("/batches").body.contains(id));
    assert_eq!(
        wrong(&service.post(&format!("/api/batches/{id}/resume"), &json!({}))).0,
        409,
        "a terminal goes on"
    );
}
