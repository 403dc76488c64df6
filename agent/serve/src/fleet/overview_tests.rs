//! Rows of the table from records, in any order.

use deskhand_fleet::signed::FleetSigningKey;
use serde_json::json;

use super::*;

const WORKER: &str = "lab-1-01a22052-4ea7-724a-a429-32609315c6e4";

fn change(key: &str, value: &[u8], at_ms: u64) -> RecordChange {
    RecordChange { key: key.to_owned(), value: Some(value.to_vec()), at_ms, is_current: true }
}

fn task(request: &str) -> Vec<u8> {
    let work = json!({"task": {"request": request}, "documents": {}});
    serde_json::to_vec(&json!({"spec": {"id": "a", "work": work}, "released": 1})).unwrap()
}

fn outcome() -> Vec<u8> {
    let result = json!({
        "id": "a", "request": "do it", "outcome": "failed", "reason": "no such file", "session_id": "0199", "session_path": null,
        "steps": 3, "calls": 2, "model_calls": 4, "prompt_tokens": 10, "completion_tokens": 5,
        "cost": {"known": 2_000_000, "unknown_calls": 0}, "elapsed_ms": 400, "exit_code": 10, "worker": WORKER, "documents": {}
    });
    serde_json::to_vec(&json!({"outcome": "done", "result": result, "finished": false})).unwrap()
}

#[test]
fn a_row_is_the_same_in_whatever_order_its_records_come() {
    let changes = [
        change("task.a", &task("do it"), 100),
        change("lease.a", WORKER.as_bytes(), 200),
        change("outcome.a", &outcome(), 1_000),
    ];
    let rows = [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]].map(|order| {
        let mut overview = FleetOverview::default();
        for index in order {
            assert!(overview.learn(changes[index].clone()));
        }
        overview.row(&TaskId::new("a").unwrap()).unwrap().clone()
    });
    assert!(rows.iter().all(|row| *row == rows[0]), "{rows:#?}");
    let row = &rows[0];
    assert_eq!((row.id.as_str(), row.place.as_str(), row.state), ("fleet.a", "lab-1", SessionState::Ended));
    assert_eq!((row.facts.outcome, row.facts.begun_ms), (Some(OutcomeKind::Failed), 600));
    assert!((row.cost_usd - 2.0).abs() < f64::EPSILON, "{row:?}");
}

#[test]
fn a_row_says_where_it_is_and_what_it_waits_for() {
    let mut overview = FleetOverview::default();
    let id = TaskId::new("a").unwrap();
    let state = |overview: &FleetOverview| {
        let row = overview.row(&id).unwrap();
        (row.state, row.place.clone(), row.facts.reason.clone())
    };
    let told = |state: SessionState, place: &str, reason: &str| (state, place.to_owned(), reason.to_owned());
    assert!(overview.learn(change("lease.b", WORKER.as_bytes(), 1)));
    assert_eq!(overview.rows().count(), 0, "a lease alone is no task");
    overview.learn(change("task.a", &task("do it"), 1));
    assert_eq!(state(&overview), told(SessionState::Queued, "fleet", "waits for a worker"));
    assert!(overview.learn(change("lease.a", WORKER.as_bytes(), 2)));
    assert!(!overview.learn(change("lease.a", WORKER.as_bytes(), 3)), "a renewal is no news");
    assert_eq!(state(&overview), told(SessionState::Running, "lab-1", ""));
    overview.learn(change("question.a", b"{}", 4));
    assert_eq!(state(&overview), told(SessionState::Running, "lab-1", ASKS));
    overview.learn(change("question.a", b"", 5));
    assert_eq!(state(&overview), told(SessionState::Running, "lab-1", ""));
    let person = br#"{"outcome": "person", "reason": "it may have paid"}"#;
    overview.learn(change("outcome.a", person, 6));
    let decide = "somebody has to decide: it may have paid";
    assert_eq!(state(&overview), told(SessionState::Interrupted, "lab-1", decide));
    assert!(!overview.learn(change("task.<b>", &task("x"), 7)), "no id");
    assert!(!overview.learn(change("outcome.a", b"garbage", 8)));
}

#[test]
fn the_name_of_a_worker_is_the_one_that_it_was_given() {
    let name = |text: &str| name_of(&WorkerId(text.to_owned())).to_owned();
    assert_eq!(name(WORKER), "lab-1");
    assert_eq!(name("short"), "short");
    assert_eq!(name(&"x".repeat(60)), "x".repeat(60));
    assert_eq!(name(&"ä".repeat(40)), "ä".repeat(40));
}

#[test]
fn every_outcome_says_how_it_ended() {
    let reason = || "why".to_owned();
    let cases = [
        (TaskOutcome::Failed { reason: reason() }, "error", "cannot be done: why"),
        (TaskOutcome::Refused { reason: reason() }, "rejected", "refused: why"),
        (TaskOutcome::DeadLetter { reason: reason() }, "error", "put aside: why"),
        (TaskOutcome::Cancelled, "cancelled", "cancelled"),
        (TaskOutcome::Blocked { by: TaskId::new("b").unwrap() }, "failed", "never begun: b did not finish"),
        (TaskOutcome::Expired { reason: reason() }, "budget_exhausted", "expired: why"),
        (TaskOutcome::OverBudget { reason: reason() }, "budget_exhausted", "never begun: why"),
        // That of a task with rows is none of a session.
        (
            TaskOutcome::Done {
                result: json!({"outcome": "failed", "reason": "1 of 2", "rows": 2}),
                finished: false,
            },
            "failed",
            "1 of 2",
        ),
    ];
    for (outcome, kind, reason) in cases {
        let mut overview = FleetOverview::default();
        overview.learn(change("task.a", &task("do it"), 1));
        let record = OutcomeRecord::from(outcome.clone());
        assert!(overview.learn(change("outcome.a", &serde_json::to_vec(&record).unwrap(), 2)), "{outcome:?}");
        let row = overview.row(&TaskId::new("a").unwrap()).unwrap();
        let shown = (row.state, row.facts.outcome.map(OutcomeKind::word), row.facts.reason.as_str());
        assert_eq!(shown, (SessionState::Ended, Some(kind), reason));
    }
}

#[test]
fn records_that_others_stored_do_not_count() {
    let (key, id) = (FleetSigningKey::generate(), TaskId::new("a").unwrap());
    let spec = key.sign("dh", TaskSpec::new(id.clone())).unwrap();
    let record = serde_json::to_vec(&TaskRecord { spec, released: 0 }).unwrap();
    let mut overview = FleetOverview::default();
    overview.learn(change("task.a", &record, 1));
    assert!(!overview.learn(change("task.b", &record, 1)), "it says that it is another task");
    assert_eq!(overview.rows().count(), 1);
    overview.learn(change("cancel.a", b"", 2));
    assert!(!overview.whereabouts(&id).unwrap().is_cancelled, "it is not signed");
    let signed = serde_json::to_vec(&key.sign_cancel("dh", &id).unwrap()).unwrap();
    overview.learn(change("cancel.a", &signed, 3));
    assert!(overview.whereabouts(&id).unwrap().is_cancelled);
}
