//! What a session keeps of a round that is judged.

use serde::{Deserialize, Serialize};

use super::phases::{Observed, StepStart};
use crate::evaluation::Judgement;

/// A round that is judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Evaluating {
    /// What the agents say came of the request.
    pub(super) result: String,
    pub(super) findings: Vec<Finding>,
    pub(super) phase: EvaluatingPhase,
}

/// How far judging is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EvaluatingPhase {
    /// It looks at the desktop.
    Looking(StepStart),
    /// It asked the model.
    Asking(Observed),
}

/// What a rule says of the record of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Finding {
    pub(super) name: String,
    pub(super) judgement: Judgement,
    pub(super) reason: String,
}

impl Finding {
    pub(super) fn new(name: &str, judgement: Judgement, reason: impl Into<String>) -> Self {
        Self { name: name.to_owned(), judgement, reason: reason.into() }
    }
}
