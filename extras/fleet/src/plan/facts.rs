//! Facts read from the result of a task.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{TaskAttempt, TaskUsage};
use crate::journal::TaskOutcome;

/// The record of an outcome: the outcome, and the tries before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeRecord {
    /// The outcome.
    #[serde(flatten)]
    pub outcome: TaskOutcome,
    /// The tries before it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<TaskAttempt>,
    /// The batch whose budget they count for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
}

impl From<TaskOutcome> for OutcomeRecord {
    fn from(outcome: TaskOutcome) -> Self {
        Self { outcome, attempts: Vec::new(), batch: None }
    }
}

impl OutcomeRecord {
    /// Returns the resources that all tries used together.
    pub fn used(&self) -> TaskUsage {
        let last = TaskResultFacts::of(&self.outcome).used;
        self.attempts.iter().fold(last, |used, attempt| used.plus(attempt.used))
    }
}

/// Facts read from a result, whoever made it. Facts that it does not contain are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskResultFacts {
    /// The way it ended, in one word.
    pub outcome: String,
    /// Why, or what it found out.
    pub reason: String,
    /// The documents that it left: names, and the hashes under which they are stored.
    pub documents: BTreeMap<String, String>,
    /// Of a task with rows: how many.
    pub rows: Option<u32>,
    /// The resources it used.
    pub used: TaskUsage,
}

/// The fields of a result that others read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TaskResultFields {
    outcome: String,
    reason: String,
    documents: BTreeMap<String, String>,
    rows: Option<u32>,
    model_calls: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    cost: ReadCost,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReadCost {
    known: u64,
    unknown_calls: u64,
}

impl TaskResultFacts {
    /// The facts of an outcome.
    pub fn of(outcome: &TaskOutcome) -> Self {
        let of = |outcome: &str, reason: &str| Self {
            outcome: outcome.to_owned(),
            reason: reason.to_owned(),
            ..Self::default()
        };
        match outcome {
            TaskOutcome::Done { result, .. } => {
                let read = TaskResultFields::deserialize(result).unwrap_or_default();
                let used = TaskUsage {
                    model_calls: read.model_calls,
                    tokens: read.prompt_tokens.saturating_add(read.completion_tokens),
                    cost_micros: read.cost.known,
                    unpriced_calls: read.cost.unknown_calls,
                };
                let TaskResultFields { outcome, reason, documents, rows, .. } = read;
                Self { outcome, reason, documents, rows, used }
            }
            TaskOutcome::Failed { reason } => of("impossible", reason),
            TaskOutcome::DeadLetter { reason } => of("dead_letter", reason),
            TaskOutcome::Person { reason } => of("person", reason),
            TaskOutcome::Cancelled => of("cancelled", ""),
            TaskOutcome::Blocked { by } => of("blocked", by.as_str()),
            TaskOutcome::Expired { reason } => of("expired", reason),
            TaskOutcome::OverBudget { reason } => of("over_budget", reason),
            TaskOutcome::Refused { reason } => of("refused", reason),
        }
    }
}
