//! What is counted.

use std::collections::BTreeSet;

use deskhand_fleet::{
    holder::DeliveryOutcome,
    journal::TaskOutcome,
    task::{TaskId, TaskSpec},
};
use deskhand_host::TaskResult;
use serde_json::json;

use super::*;
use crate::fleet::figures::LABELS_MAX;

fn done(finished: bool) -> DeliveryOutcome {
    DeliveryOutcome::Ended(TaskOutcome::Done { result: json!({}), finished })
}

fn result(dollars: u64) -> TaskResult {
    serde_json::from_value(json!({
        "id": "one", "request": "x", "outcome": "finished", "reason": "", "session_id": null, "session_path": null, "steps": 1,
        "calls": 1, "model_calls": 1, "prompt_tokens": 10, "completion_tokens": 3,
        "cost": { "known": dollars * 1_000_000, "unknown_calls": 0 }, "elapsed_ms": 5, "exit_code": 0
    }))
    .unwrap()
}

#[test]
fn outcomes_costs_and_times_are_counted() {
    let figures = WorkerFigures::default();
    figures.running(3);
    for held in [
        done(true),
        done(true),
        done(false),
        DeliveryOutcome::Ended(TaskOutcome::Cancelled),
        DeliveryOutcome::Lost,
        DeliveryOutcome::Elsewhere,
    ] {
        figures.left(&held);
    }
    let labels = |labels: &[&str]| TaskSpec {
        labels: labels.iter().map(|label| (*label).to_owned()).collect::<BTreeSet<String>>(),
        ..TaskSpec::new(TaskId::new("one").unwrap())
    };
    figures.used(&labels(&["sap", "night"]), &result(2), Duration::from_secs(40));
    figures.used(&labels(&[]), &result(1), Duration::from_secs(100_000));
    let shown = text(figures.figures()).unwrap();
    for line in [
        "deskhand_worker_sessions 3",
        "deskhand_worker_leases_lost_total 1",
        "deskhand_worker_tasks_total{outcome=\"finished\"} 2",
        "deskhand_worker_tasks_total{outcome=\"unfinished\"} 1",
        "deskhand_worker_tasks_total{outcome=\"cancelled\"} 1",
        "deskhand_worker_cost_dollars_total{label=\"sap\"} 2",
        "deskhand_worker_cost_dollars_total{label=\"night\"} 2",
        "deskhand_worker_cost_dollars_total{label=\"\"} 1",
        "deskhand_worker_tokens_total{kind=\"read\"} 20",
        "deskhand_worker_task_seconds_bucket{le=\"30.0\"} 0",
        "deskhand_worker_task_seconds_bucket{le=\"60.0\"} 1",
        "deskhand_worker_task_seconds_bucket{le=\"+Inf\"} 2",
        "deskhand_worker_task_seconds_count 2",
    ] {
        assert!(shown.lines().any(|shown| shown == line || shown == format!("{line}.0")), "{line}\n{shown}");
    }
}

#[test]
fn labels_beyond_the_limit_are_counted_together() {
    let figures = WorkerFigures::default();
    for number in 0..LABELS_MAX + 10 {
        let mut spec = TaskSpec::new(TaskId::new("one").unwrap());
        spec.labels.insert(format!("label-{number:03}"));
        figures.used(&spec, &result(1), Duration::ZERO);
    }
    let shown = text(figures.figures()).unwrap();
    assert_eq!(shown.matches("deskhand_worker_cost_dollars_total{").count(), LABELS_MAX + 1);
    assert!(shown.contains("deskhand_worker_cost_dollars_total{label=\"others\"} 10"), "{shown}");
}

#[test]
fn the_dashboard_asks_for_figures_that_there_are() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/fleet/grafana.json");
    let dashboard: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let figures = WorkerFigures::default();
    figures.left(&done(true));
    figures.used(&TaskSpec::new(TaskId::new("one").unwrap()), &result(1), Duration::from_secs(1));
    let mut all = figures.figures();
    all.extend(fleet(Some(Depth::default()), Some((1, 1))));
    let shown = text(all).unwrap();
    let known: BTreeSet<&str> = shown
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(['{', ' ']).next())
        .collect();
    let mut asked = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let words =
                target["expr"].as_str().unwrap().split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            asked.extend(words.filter(|word| word.starts_with("deskhand_")));
        }
    }
    assert!(asked.len() >= 9, "{asked:?}");
    assert_eq!(asked.difference(&known).collect::<Vec<_>>(), Vec::<&&str>::new(), "{shown}");
}
