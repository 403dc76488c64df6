//! The state of an evaluation.

use serde::{Deserialize, Serialize};

use super::phases::{ObservedStep, StepStart};
use crate::evaluation::Judgement;

/// A round under evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct EvaluationState {
    /// The result that the agents report.
    pub(super) result: String,
    pub(super) findings: Vec<EvaluationFinding>,
    pub(super) phase: EvaluatingPhase,
}

/// The progress of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EvaluatingPhase {
    /// Observing the desktop.
    Looking(StepStart),
    /// Asking the model.
    Asking(ObservedStep),
}

/// The finding of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EvaluationFinding {
    pub(super) name: String,
    pub(super) judgement: Judgement,
    pub(super) reason: String,
}

impl EvaluationFinding {
    pub(super) fn new(name: &str, judgement: Judgement, reason: impl Into<String>) -> Self {
        Self { name: name.to_owned(), judgement, reason: reason.into() }
    }
}
