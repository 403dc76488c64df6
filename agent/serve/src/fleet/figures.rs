//! The counters of a worker.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use deskhand_fleet::{holder::DeliveryOutcome, journal::TaskOutcome, task::TaskSpec};
use deskhand_host::TaskResult;

use crate::page::metrics::{MetricFamily, number};

/// The most labels of tasks that costs are counted by; the others are counted together.
pub(super) const LABELS_MAX: usize = 50;
const OTHERS: &str = "others";
/// Bucket bounds for the duration of tasks, in seconds.
const BOUNDS: [f64; 9] = [10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 3_600.0, 7_200.0];

/// The counters of a worker.
#[derive(Debug, Default)]
pub struct WorkerFigures {
    sessions: AtomicU64,
    leases_lost: AtomicU64,
    counted: Mutex<WorkerCounters>,
}

#[derive(Debug, Default, Clone)]
struct WorkerCounters {
    outcomes: BTreeMap<&'static str, u64>,
    dollars: BTreeMap<String, f64>,
    tokens: [u64; 2],
    /// Number of tasks in each bucket of durations; the last bucket exceeds every bound.
    seconds: [u64; BOUNDS.len() + 1],
    seconds_sum: f64,
}

impl WorkerFigures {
    /// The sessions that run.
    pub(super) fn sessions(&self) -> u64 {
        self.sessions.load(Ordering::Relaxed)
    }

    /// Notes how many sessions run.
    pub(super) fn running(&self, sessions: usize) {
        self.sessions.store(sessions as u64, Ordering::Relaxed);
    }

    /// Counts what became of a task.
    pub(super) fn left(&self, held: &DeliveryOutcome) {
        match held {
            DeliveryOutcome::Ended(outcome) => {
                *self.counted().outcomes.entry(name_of(outcome)).or_default() += 1;
            }
            DeliveryOutcome::Lost => {
                self.leases_lost.fetch_add(1, Ordering::Relaxed);
            }
            DeliveryOutcome::Again(_) | DeliveryOutcome::Elsewhere => {}
        }
    }

    /// Counts what a task took.
    pub(super) fn used(&self, spec: &TaskSpec, result: &TaskResult, took: Duration) {
        let mut counted = self.counted();
        let seconds = took.as_secs_f64();
        let place = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        if let Some(count) = counted.seconds.get_mut(place) {
            *count += 1;
        }
        counted.seconds_sum += seconds;
        let [read, written] = &mut counted.tokens;
        *read = read.saturating_add(result.prompt_tokens);
        *written = written.saturating_add(result.completion_tokens);
        let dollars = number(result.cost.known.0) / 1e6;
        for label in labels_of(spec) {
            let is_known = counted.dollars.contains_key(label) || counted.dollars.len() < LABELS_MAX;
            let label = if is_known { label } else { OTHERS };
            *counted.dollars.entry(label.to_owned()).or_default() += dollars;
        }
    }

    fn counted(&self) -> std::sync::MutexGuard<'_, WorkerCounters> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current figures of the worker.
    pub(super) fn figures(&self) -> Vec<MetricFamily> {
        let counted = self.counted().clone();
        let mut sessions =
            MetricFamily::gauge("deskhand_worker_sessions", "Sessions of this worker that run");
        sessions.add(&[], number(self.sessions()));
        let mut lost = MetricFamily::counter(
            "deskhand_worker_leases_lost",
            "Tasks that this worker lost to another one",
        );
        lost.add(&[], number(self.leases_lost.load(Ordering::Relaxed)));
        let mut outcomes =
            MetricFamily::counter("deskhand_worker_tasks", "Tasks that ended with this worker, by outcome");
        for (outcome, count) in &counted.outcomes {
            outcomes.add(&[("outcome", outcome)], number(*count));
        }
        let mut dollars = MetricFamily::counter(
            "deskhand_worker_cost_dollars",
            "What models cost, by the labels of tasks; a task with several labels counts for each",
        );
        for (label, cost) in &counted.dollars {
            dollars.add(&[("label", label)], *cost);
        }
        let mut tokens = MetricFamily::counter("deskhand_worker_tokens", "Tokens that models read and wrote");
        for (kind, count) in ["read", "written"].iter().zip(counted.tokens) {
            tokens.add(&[("kind", kind)], number(count));
        }
        let seconds = MetricFamily::histogram(
            "deskhand_worker_task_seconds",
            "How long tasks took on this worker",
            &BOUNDS,
            &counted.seconds,
            counted.seconds_sum,
        );
        vec![sessions, lost, outcomes, dollars, tokens, seconds]
    }
}

/// The labels that a task counts for; one without labels counts for none of them.
fn labels_of(spec: &TaskSpec) -> impl Iterator<Item = &str> {
    let none = spec.labels.is_empty().then_some("");
    spec.labels.iter().map(String::as_str).chain(none)
}

const fn name_of(outcome: &TaskOutcome) -> &'static str {
    match outcome {
        TaskOutcome::Done { finished: true, .. } => "finished",
        TaskOutcome::Done { finished: false, .. } => "unfinished",
        TaskOutcome::Failed { .. } => "failed",
        TaskOutcome::Refused { .. } => "refused",
        TaskOutcome::DeadLetter { .. } => "dead_letter",
        TaskOutcome::Person { .. } => "person",
        TaskOutcome::Cancelled => "cancelled",
        TaskOutcome::Blocked { .. } => "blocked",
        TaskOutcome::Expired { .. } => "expired",
        TaskOutcome::OverBudget { .. } => "over_budget",
    }
}
