//! The order in which tasks begin.

use super::*;
use crate::plan::{ForEach, Share};

fn id(name: &str) -> TaskId {
    TaskId::new(name).unwrap()
}

fn task(name: &str, after: &[&str], priority: u8, labels: &[&str]) -> TaskSpec {
    TaskSpec {
        after: after.iter().map(|name| id(name)).collect(),
        priority,
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        ..TaskSpec::new(id(name))
    }
}

/// What may begin now.
fn released(graph: &mut Graph) -> Vec<String> {
    let steps = std::iter::from_fn(|| graph.next_step());
    steps
        .map(|step| match step {
            GraphStep::Release { task, .. } => task.to_string(),
            GraphStep::Block { task, by } => {
                format!("{task} blocked by {by}")
            }
            GraphStep::Spread(task) => format!("{task} spreads"),
            GraphStep::Close { task, rows, finished } => format!("{task} closes: {finished} of {rows}"),
        })
        .collect()
}

fn end(graph: &mut Graph, name: &str, finished: bool) {
    graph.end(&id(name), finished, TaskUsage::default());
}

#[test]
fn tasks_begin_by_priority_once_what_they_come_after_is_finished() {
    let mut graph = Graph::default();
    graph.add(&task("sum", &["one", "two"], 9, &[]), false);
    graph.add(&task("one", &[], 0, &[]), false);
    graph.add(&task("two", &[], 5, &[]), false);
    assert_eq!(released(&mut graph), ["two", "one"]);
    end(&mut graph, "one", true);
    end(&mut graph, "one", true);
    assert_eq!(released(&mut graph), [""; 0]);
    end(&mut graph, "two", true);
    assert_eq!(released(&mut graph), ["sum"]);
    graph.add(&task("late", &["two"], 0, &[]), false);
    assert_eq!(released(&mut graph), ["late"]);
    assert_eq!(graph.open(), 2);
}

#[test]
fn what_comes_after_a_task_that_did_not_finish_never_begins() {
    let mut graph = Graph::default();
    graph.add(&task("one", &[], 0, &[]), false);
    graph.add(&task("two", &["one"], 0, &[]), false);
    graph.add(&task("three", &["two"], 0, &[]), false);
    assert_eq!(released(&mut graph), ["one"]);
    end(&mut graph, "one", false);
    assert_eq!(released(&mut graph), ["two blocked by one"]);
    end(&mut graph, "two", false);
    assert_eq!(released(&mut graph), ["three blocked by two"]);
}

#[test]
fn a_task_that_is_blocked_does_not_begin_while_its_outcome_is_on_the_way() {
    let mut graph = Graph::default();
    for name in ["one", "two"] {
        graph.add(&task(name, &[], 0, &[]), false);
    }
    graph.add(&task("three", &["one", "two"], 0, &[]), false);
    assert_eq!(released(&mut graph), ["one", "two"]);
    end(&mut graph, "one", false);
    assert_eq!(released(&mut graph), ["three blocked by one"]);
    graph.add(&task("four", &["one", "two"], 0, &[]), false);
    assert_eq!(released(&mut graph), ["four blocked by one"]);
    end(&mut graph, "two", true);
    assert_eq!(released(&mut graph), [""; 0]);
}

#[test]
fn a_task_may_be_known_after_its_outcome() {
    let mut graph = Graph::new([("licence".to_owned(), 1)].into(), Slots::default());
    end(&mut graph, "one", true);
    graph.add(&task("two", &["one"], 0, &[]), false);
    assert_eq!(released(&mut graph), [""; 0]);
    graph.add(&task("one", &[], 0, &["licence"]), true);
    graph.add(&task("three", &[], 0, &["licence"]), false);
    assert_eq!(released(&mut graph), ["two", "three"]);
}

#[test]
fn labels_have_limits_and_others_are_not_held_up() {
    let mut graph = Graph::new([("licence".to_owned(), 2)].into(), Slots::default());
    for name in ["a", "b", "c", "d"] {
        graph.add(&task(name, &[], 0, &["licence"]), false);
    }
    graph.add(&task("e", &[], 0, &[]), false);
    assert_eq!(released(&mut graph), ["a", "b", "e"]);
    end(&mut graph, "b", true);
    assert_eq!(released(&mut graph), ["c"]);
    // A task that ends without having begun frees nothing.
    end(&mut graph, "d", false);
    assert_eq!(released(&mut graph), [""; 0]);
    end(&mut graph, "a", true);
    end(&mut graph, "c", true);
    assert_eq!(released(&mut graph), [""; 0]);
    // Who was put into the queue by another one counts.
    graph.add(&task("f", &[], 0, &["licence"]), true);
    graph.add(&task("g", &[], 0, &["licence"]), true);
    graph.add(&task("h", &[], 0, &["licence"]), false);
    assert_eq!(released(&mut graph), [""; 0]);
    end(&mut graph, "f", true);
    assert_eq!(released(&mut graph), ["h"]);
}

#[test]
fn a_task_that_only_one_of_two_labels_holds_up_does_not_take_the_turn_of_another() {
    let mut graph = Graph::new([("sap".to_owned(), 1), ("mail".to_owned(), 1)].into(), Slots::default());
    graph.add(&task("mails", &[], 0, &["mail"]), true);
    graph.add(&task("sap", &[], 0, &["sap"]), true);
    graph.add(&task("both", &[], 9, &["mail", "sap"]), false);
    graph.add(&task("other", &[], 0, &["sap"]), false);
    assert_eq!(released(&mut graph), [""; 0]);
    end(&mut graph, "sap", true);
    assert_eq!(released(&mut graph), ["other"]);
    end(&mut graph, "mails", true);
    assert_eq!(released(&mut graph), [""; 0]);
    end(&mut graph, "other", true);
    assert_eq!(released(&mut graph), ["both"]);
}

#[test]
fn the_next_leader_lets_begin_what_the_last_one_was_about_to() {
    let limits = Limits::from([("sap".to_owned(), 2)]);
    let mut last = Graph::new(limits.clone(), Slots::default());
    for name in ["a", "b", "c"] {
        last.add(&task(name, &[], 0, &["sap"]), false);
    }
    assert_eq!(released(&mut last), ["a", "b"]);
    // It has read some of the tasks, and nobody has written that `b` is in the queue.
    let mut next = Graph::new(limits, last.slots().clone());
    next.add(&task("c", &[], 9, &["sap"]), false);
    assert_eq!(released(&mut next), [""; 0]);
    next.add(&task("b", &[], 0, &["sap"]), false);
    assert_eq!(released(&mut next), ["b"]);
    end(&mut next, "a", true);
    assert_eq!(released(&mut next), ["c"]);
    next.add(&task("a", &[], 0, &["sap"]), true);
    end(&mut next, "b", true);
    end(&mut next, "c", true);
    let empty: Slots = serde_json::from_value(serde_json::json!({ "sap": [] })).unwrap();
    assert_eq!((next.open(), next.slots()), (0, &empty));
}

#[test]
fn tasks_are_counted_where_they_are() {
    let mut graph = Graph::default();
    let used = |tokens| TaskUsage { tokens, ..TaskUsage::default() };
    graph.end(&id("a"), true, used(5));
    for name in ["a", "b", "c"] {
        let one = TaskSpec { batch: Some("x".to_owned()), ..task(name, &[], 0, &["sap"]) };
        graph.add(&one, false);
    }
    graph.add(&with_rows("all", Some(1)), false);
    graph.add(&task("late", &["b"], 0, &[]), false);
    assert_eq!(released(&mut graph), ["b", "c"]);
    graph.end(&id("c"), false, used(2));
    graph.end(&id("c"), false, used(2));
    let tally = graph.tally();
    assert_eq!((tally.tasks(), tally.waiting, tally.released), (5, 2, 1));
    assert_eq!((tally.finished, tally.unfinished, tally.used), (1, 1, used(7)));
    let share = Share { tasks: 3, used: used(7) };
    assert_eq!(tally.labels, [("sap".to_owned(), share)].into());
    assert_eq!(tally.batches, [("x".to_owned(), share)].into());
}

#[test]
fn limits_can_be_set_while_tasks_run() {
    let mut graph = Graph::default();
    for name in ["a", "b"] {
        graph.add(&task(name, &[], 0, &["sap"]), true);
    }
    for name in ["c", "d"] {
        graph.add(&task(name, &[], 0, &["sap"]), false);
    }
    graph.set_limits([("sap".to_owned(), 2)].into());
    assert_eq!(released(&mut graph), [""; 0]);
    graph.set_limits([("sap".to_owned(), 3)].into());
    assert_eq!(released(&mut graph), ["c"]);
    graph.set_limits(BTreeMap::new());
    assert_eq!(released(&mut graph), ["d"]);
}

/// A task that stands for rows, and those of its rows.
fn with_rows(name: &str, rows: Option<u32>) -> TaskSpec {
    let table = ForEach { of: None, document: "rows.csv".to_owned(), rows };
    TaskSpec { for_each: Some(table), ..TaskSpec::new(id(name)) }
}

fn row(name: &str, of: &str) -> TaskSpec {
    TaskSpec { row_of: Some(id(of)), ..TaskSpec::new(id(name)) }
}

#[test]
fn a_task_with_rows_ends_when_all_of_them_have() {
    // Whichever is read first.
    for is_first in [true, false] {
        let mut graph = Graph::default();
        if is_first {
            graph.add(&with_rows("all", Some(2)), false);
        }
        graph.add(&task("sum", &["all"], 0, &[]), false);
        graph.add(&row("all-0001", "all"), false);
        graph.add(&row("all-0002", "all"), false);
        assert_eq!(released(&mut graph), ["all-0001", "all-0002"]);
        end(&mut graph, "all-0001", true);
        end(&mut graph, "all-0001", true);
        assert_eq!(released(&mut graph), [""; 0]);
        end(&mut graph, "all-0002", is_first);
        if !is_first {
            graph.add(&with_rows("all", Some(2)), false);
        }
        assert_eq!(released(&mut graph), [format!("all closes: {} of 2", 1 + u32::from(is_first))]);
        end(&mut graph, "all", is_first);
        assert_eq!(released(&mut graph), [if is_first { "sum" } else { "sum blocked by all" }]);
    }
}

#[test]
fn the_rows_of_a_later_table_are_made_once_it_is_there() {
    let mut graph = Graph::default();
    graph.add(&TaskSpec { after: [id("extract")].into(), ..with_rows("all", None) }, false);
    graph.add(&task("extract", &[], 0, &[]), false);
    assert_eq!(released(&mut graph), ["extract"]);
    end(&mut graph, "extract", true);
    assert_eq!(released(&mut graph), ["all spreads"]);
    graph.add(&row("all-0001", "all"), false);
    graph.has_rows(&id("all"), 1);
    graph.has_rows(&id("all"), 1);
    assert_eq!(released(&mut graph), ["all-0001"]);
    end(&mut graph, "all-0001", true);
    assert_eq!(released(&mut graph), ["all closes: 1 of 1"]);
    // A table without rows is done at once.
    graph.add(&with_rows("none", Some(0)), false);
    assert_eq!(released(&mut graph), ["none closes: 0 of 0"]);
}
