//! Facts read from the result of a task.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Attempt, Used};
use crate::journal::Outcome;

/// The record of an outcome: the outcome, and the tries before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeRecord {
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The tries before it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// The batch whose budget they count for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
}

impl From<Outcome> for OutcomeRecord {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, attempts: Vec::new(), batch: None }
    }
}

impl OutcomeRecord {
    /// Returns the resources that all tries used together.
    pub fn used(&self) -> Used {
        let last = Facts::of(&self.outcome).used;
        self.attempts.iter().fold(last, |used, attempt| used.plus(attempt.used))
    }
}

/// Facts read from a result, whoever made it. Facts that it does not contain are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The way it ended, in one word.
    pub outcome: String,
    /// Why, or what it found out.
    pub reason: String,
    /// The documents that it left: names, and the hashes under which they are stored.
    pub documents: BTreeMap<String, String>,
    /// Of a task with rows: how many.
    pub rows: Option<u32>,
    /// The resources it used.
    pub used: Used,
}

/// The fields of a result that others read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Read {
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

impl Facts {
    /// The facts of an outcome.
    pub fn of(outcome: &Outcome) -> Self {
        let of = |outcome: &str, reason: &str| Self {
            outcome: outcome.to_owned(),
            reason: reason.to_owned(),
            ..Self::default()
        };
        match outcome {
            Outcome::Done { result, .. } => {
                let read = Read::deserialize(result).unwrap_or_default();
                let used = Used {
                    model_calls: read.model_calls,
                    tokens: read.prompt_tokens.saturating_add(read.completion_tokens),
                    cost_micros: read.cost.known,
                    unpriced_calls: read.cost.unknown_calls,
                };
                let Read { outcome, reason, documents, rows, .. } = read;
                Self { outcome, reason, documents, rows, used }
            }
            Outcome::Failed { reason } => of("impossible", reason),
            Outcome::DeadLetter { reason } => of("dead_letter", reason),
            Outcome::Person { reason } => of("person", reason),
            Outcome::Cancelled => of("cancelled", ""),
            Outcome::Blocked { by } => of("blocked", by.as_str()),
            Outcome::Expired { reason } => of("expired", reason),
            Outcome::OverBudget { reason } => of("over_budget", reason),
            Outcome::Refused { reason } => of("refused", reason),
        }
    }
}
