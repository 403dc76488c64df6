//! Retries of a task.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{TaskResultFacts, TaskUsage};
use crate::{
    journal::{TaskJournalEntries, TaskJournalEntry, TaskOutcome, WorkerId},
    task::{OnLoss, TaskSpec},
};

/// The outcomes of a session after which a task may be tried again.
pub const RETRIED: [&str; 4] = ["failed", "error", "budget_exhausted", "rejected"];

/// When a task is tried again that did not finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskRetryPolicy {
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
pub struct TaskAttempt {
    /// The way it ended.
    pub outcome: String,
    /// Why.
    pub reason: String,
    /// Who tried.
    pub worker: WorkerId,
    /// The resources it used.
    #[serde(default)]
    pub used: TaskUsage,
}

/// The tries of a journal that were not the last.
pub fn attempts(journal: &TaskJournalEntries) -> Vec<TaskAttempt> {
    let tries = journal.entries().iter().filter_map(|entry| match entry {
        TaskJournalEntry::Again(attempt) => Some(attempt.clone()),
        TaskJournalEntry::Taken { .. }
        | TaskJournalEntry::Acts(_)
        | TaskJournalEntry::Lines(_)
        | TaskJournalEntry::Afresh
        | TaskJournalEntry::Ended { .. } => None,
    });
    tries.collect()
}

/// The try that just ended, if another one follows it. `has_acted` says whether it began an action: what cannot be repeated is left to
/// a person.
pub(crate) fn again(
    spec: &TaskSpec,
    journal: &TaskJournalEntries,
    outcome: &TaskOutcome,
    has_acted: bool,
    worker: &WorkerId,
) -> Option<TaskAttempt> {
    let retry = spec.retry.as_ref()?;
    let TaskOutcome::Done { finished: false, .. } = outcome else { return None };
    let TaskResultFacts { outcome, reason, used, .. } = TaskResultFacts::of(outcome);
    let tries = u32::try_from(attempts(journal).len()).unwrap_or(u32::MAX).saturating_add(1);
    let is_for_a_person = has_acted && spec.on_loss == OnLoss::Person;
    let is_wanted = retry.on.contains(&outcome) && tries < retry.most && !is_for_a_person;
    is_wanted.then(|| TaskAttempt { outcome, reason, worker: worker.clone(), used })
}
