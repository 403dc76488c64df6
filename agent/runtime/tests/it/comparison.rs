//! Two sessions side by side.

use std::fs;

use deskhand_machine::{
    record::JournalRecord,
    session::{SessionConfig, SessionEvent},
};
use deskhand_runtime::{
    UnsealedJournalPolicy,
    comparison::{MoveAspect, Pair, SessionComparison, compare},
    fork,
};
use serde_json::Value;

use crate::support::{Ran, commands, config, office_script, run_office, run_with, script};

/// The tools that both have, and those that one has.
fn tools(comparison: &SessionComparison) -> [Vec<&str>; 3] {
    let is = |left: bool, right: bool| {
        move |pair: &&Pair| (pair.left.is_some(), pair.right.is_some()) == (left, right)
    };
    [(true, true), (true, false), (false, true)].map(|(left, right)| {
        let pairs = comparison.pairs.iter().filter(is(left, right));
        pairs
            .filter_map(|pair| pair.left.as_ref().or(pair.right.as_ref()))
            .map(|one| one.tool.as_str())
            .filter(|tool| !tool.is_empty())
            .collect()
    })
}

/// The tools of a journal, refused ones included, by its JSON.
fn called(ran: &Ran) -> Vec<String> {
    let text = fs::read_to_string(ran.end.folder.journal_path()).unwrap();
    let mut tools = Vec::new();
    for line in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let refused = line["record"]["refused"].as_array().into_iter().flatten();
        let called = line.pointer("/record/effect/command").into_iter();
        let commands = refused.map(|refused| &refused["command"]).chain(called);
        tools.extend(commands.map(|command| command["tool"].as_str().unwrap().to_owned()));
    }
    tools
}

#[tokio::test]
async fn a_session_equals_itself() {
    let ran = run_office(&office_script()).await;
    let comparison = compare(&ran.end.folder, &ran.end.folder).unwrap();
    assert_eq!(comparison.equal, comparison.pairs.len());
    assert_eq!(tools(&comparison)[0], called(&ran));
    assert_eq!(comparison.left, comparison.right);
    let records: Vec<u64> = commands(&ran.lines).map(|(seq, _)| seq).collect();
    let told: Vec<u64> =
        comparison.pairs.iter().filter_map(|pair| pair.left.as_ref()).map(|one| one.record).collect();
    assert_eq!(told.into_iter().filter(|record| *record > 0).collect::<Vec<_>>(), records);
}

#[tokio::test]
async fn two_runs_of_a_task_differ_where_they_went_another_way() {
    let one = run_office(&office_script()).await;
    // Another name for the file, another kind of chart, and no cells are selected.
    let text = include_str!("office.script.toml")
        .replace("{{var \"output\"}}", "/tmp/other.ods")
        .replace("\"item\": \"Bar\"", "\"item\": \"Pie\"")
        .replace("{\"function\": \"select_cells\", \"arguments\": {\"range\": \"A1:C5\"}},", "");
    let config = SessionConfig { pictures: false, ..config() };
    let stop = deskhand_runtime::StopSwitch::new();
    let other = run_with(&script(&text), config, deskhand_desktop_fake::office(), &stop, |_, _| {}).await;
    let comparison = compare(&one.end.folder, &other.end.folder).unwrap();
    let [_, only_one, only_other] = tools(&comparison);
    assert_eq!((only_one, only_other), (vec!["select_cells"], Vec::new()));
    let arguments: Vec<(&str, &Value, &Value)> = comparison
        .pairs
        .iter()
        .filter(|pair| pair.differs.contains(&MoveAspect::Arguments))
        .map(|pair| {
            let (left, right) = (pair.left.as_ref().unwrap(), pair.right.as_ref().unwrap());
            let name = if left.tool == "select" { "item" } else { "value" };
            (left.tool.as_str(), &left.arguments[name], &right.arguments[name])
        })
        .collect();
    let (bar, pie) = (Value::from("Bar"), Value::from("Pie"));
    let (sales, another) = (Value::from("/tmp/sales.ods"), Value::from("/tmp/other.ods"));
    assert_eq!(arguments, [("select", &bar, &pie), ("set_value", &sales, &another)]);
    assert_eq!((comparison.left.id, comparison.right.id), (one.end.session.0, other.end.session.0));
}

#[tokio::test]
async fn a_fork_has_the_records_of_its_origin() {
    let ran = run_office(&office_script()).await;
    let observed = ran.lines.iter().filter(|line| {
        matches!(&line.record, JournalRecord::Event(record) if matches!(record.event, SessionEvent::Observed { .. }))
    });
    let at = observed.map(|line| line.seq).nth(3).unwrap();
    let held = fork(&ran.store.0, &ran.end.folder, at, UnsealedJournalPolicy::Refuse).unwrap();
    let both = [compare(&ran.end.folder, held.folder()), compare(held.folder(), &ran.end.folder)];
    for comparison in both.map(Result::unwrap) {
        assert_eq!(comparison.shared_records, Some(at));
        // What was copied is equal; the step in progress has no calls yet.
        let calls = commands(&ran.lines).filter(|(seq, _)| *seq < at).count();
        let paired = comparison.pairs.iter().filter(|pair| pair.left.is_some() && pair.right.is_some());
        let equal = paired.filter(|pair| pair.differs.is_empty());
        let equal = equal.filter(|pair| pair.left.as_ref().is_some_and(|one| one.record > 0)).count();
        assert_eq!(equal, calls);
    }
}
