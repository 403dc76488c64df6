//! Retries of a task.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Facts, Used};
use crate::{
    journal::{Entry, Journal, Outcome, WorkerId},
    task::{OnLoss, TaskSpec},
};

/// The outcomes of a session after which a task may be tried again.
pub const RETRIED: [&str; 4] = ["failed", "error", "budget_exhausted", "rejected"];

/// When a task is tried again that did not finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// After which outcomes.
    pub on: BTreeSet<String>,
    /// Maximum number of tries, including the first.
    pub most: u32,
    /// Delay before a retry, in milliseconds.
    #[serde(default)]
    pub wait_ms: u64,
}

/// A try that did not finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The way it ended.
    pub outcome: String,
    /// Why.
    pub reason: String,
    /// Who tried.
    pub worker: WorkerId,
    /// The resources it used.
    #[serde(default)]
    pub used: Used,
}

/// The tries of a journal that were not the last.
pub fn attempts(journal: &Journal) -> Vec<Attempt> {
    let tries = journal.entries().iter().filter_map(|entry| match entry {
        Entry::Again(attempt) => Some(attempt.clone()),
        Entry::Taken { .. } | Entry::Acts(_) | Entry::Lines(_) | Entry::Afresh | Entry::Ended { .. } => None,
    });
    tries.collect()
}

/// The try that just ended, if another one follows it. `has_acted` says whether it began an action: what cannot be repeated is left to
/// a person.
pub(crate) fn again(
    spec: &TaskSpec,
    journal: &Journal,
    outcome: &Outcome,
    has_acted: bool,
    worker: &WorkerId,
) -> Option<Attempt> {
    let retry = spec.retry.as_ref()?;
    let Outcome::Done { finished: false, .. } = outcome else { return None };
    let Facts { outcome, reason, used, .. } = Facts::of(outcome);
    let tries = u32::try_from(attempts(journal).len()).unwrap_or(u32::MAX).saturating_add(1);
    let is_for_a_person = has_acted && spec.on_loss == OnLoss::Person;
    let is_wanted = retry.on.contains(&outcome) && tries < retry.most && !is_for_a_person;
    is_wanted.then(|| Attempt { outcome, reason, worker: worker.clone(), used })
}
