//! What is shown of the tasks that somebody watches.

use deskhand_fleet::{journal::TaskOutcome, task::TaskSpec};
use serde_json::json;

use super::*;
use crate::fleet::view::TaskState;

fn watched(ids: &[&str]) -> FleetTaskWatcher {
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    FleetTaskWatcher { tasks: WatchedTaskSet { ids, ..WatchedTaskSet::default() }, news: SelectAll::new() }
}

fn task(id: &str, change: impl FnOnce(&mut TaskRecord)) -> FleetRecord {
    let mut record = TaskRecord { spec: TaskSpec::new(TaskId::new(id).unwrap()), released: 0 };
    change(&mut record);
    FleetRecord { key: format!("{TASKS}{id}"), revision: 1, value: serde_json::to_vec(&record).unwrap() }
}

fn lease(id: &str, worker: &str) -> FleetRecord {
    FleetRecord { key: format!("{LEASES}{id}"), revision: 1, value: worker.into() }
}

fn outcome(id: &str, finished: bool) -> FleetRecord {
    let outcome = TaskOutcome::Done { result: json!({}), finished };
    let record = OutcomeRecord { outcome, attempts: Vec::new(), batch: None };
    FleetRecord { key: format!("{OUTCOMES}{id}"), revision: 1, value: serde_json::to_vec(&record).unwrap() }
}

/// What is shown of these records, and how many tasks are finished, ended otherwise, with workers, queued and waiting then.
fn check(
    watched: &mut FleetTaskWatcher,
    records: Vec<FleetRecord>,
    shown: &[(&str, &str)],
    counts: [usize; 5],
) {
    for record in records {
        watched.tasks.learn(record);
    }
    let changed = watched.take_changed();
    let words = |row: &FleetTaskRow| match &row.state {
        TaskState::Waits => "waits".to_owned(),
        TaskState::Queued => "queued".to_owned(),
        TaskState::Rows { rows, ended } => format!("{ended} of {rows}"),
        TaskState::Held { worker } => format!("with {worker}"),
        TaskState::Ended { .. } => "ended".to_owned(),
    };
    let changed: Vec<(String, String)> = changed.iter().map(|row| (row.id.to_string(), words(row))).collect();
    let shown: Vec<(String, String)> =
        shown.iter().map(|(id, words)| ((*id).to_owned(), (*words).to_owned())).collect();
    assert_eq!(changed, shown);
    let Counts { tasks, waiting, queued, held, finished, unfinished } = watched.counts();
    assert_eq!([finished, unfinished, held, queued, waiting], counts);
    assert_eq!(tasks, counts.into_iter().sum::<usize>());
}

#[test]
fn only_what_is_new_is_shown() {
    let mut all = watched(&[]);
    check(
        &mut all,
        vec![task("b", |_| ()), task("a", |_| ())],
        &[("a", "waits"), ("b", "waits")],
        [0, 0, 0, 0, 2],
    );
    check(&mut all, vec![], &[], [0, 0, 0, 0, 2]);
    check(&mut all, vec![task("b", |task| task.released = 1)], &[("b", "queued")], [0, 0, 0, 1, 1]);
    // A lease says the same each time that it is renewed.
    check(&mut all, vec![lease("b", "w1"), lease("b", "w1")], &[("b", "with w1")], [0, 0, 1, 0, 1]);
    check(&mut all, vec![lease("b", "w1")], &[], [0, 0, 1, 0, 1]);
    check(&mut all, vec![outcome("b", true), lease("b", "w1")], &[("b", "ended")], [1, 0, 0, 0, 1]);
    check(&mut all, vec![outcome("a", false)], &[("a", "ended")], [1, 1, 0, 0, 0]);
}

#[test]
fn an_outcome_may_come_before_its_task() {
    let mut all = watched(&[]);
    check(&mut all, vec![outcome("a", true)], &[], [0; 5]);
    check(&mut all, vec![task("a", |_| ())], &[("a", "ended")], [1, 0, 0, 0, 0]);
}

#[test]
fn others_than_the_watched_ones_are_not_shown() {
    let mut one = watched(&["a", "no"]);
    check(&mut one, vec![task("a", |_| ()), task("b", |_| ())], &[("a", "waits")], [0, 0, 0, 0, 1]);
    assert_eq!(one.unknown(), Some("no"));
}

#[test]
fn a_task_for_rows_is_shown_whenever_one_of_them_ends() {
    let table = json!({"for_each": {"of": "x", "document": "t.csv", "rows": 2}, "id": "all"});
    let spec: TaskSpec = serde_json::from_value(table).unwrap();
    let row = |id| task(id, |task| task.spec.row_of = Some(TaskId::new("all").unwrap()));
    let mut one = watched(&["all"]);
    let records = vec![task("all", |task| task.spec = spec), row("all-1"), row("all-2")];
    check(&mut one, records, &[("all", "0 of 2")], [0, 0, 0, 0, 1]);
    check(&mut one, vec![outcome("all-1", false)], &[("all", "1 of 2")], [0, 0, 0, 0, 1]);
    check(&mut one, vec![outcome("all-1", false)], &[], [0, 0, 0, 0, 1]);
}
