//! The machine at work in a session.

use serde::{Deserialize, Serialize};

use super::{delegation::Delegation, evaluation::EvaluationState, phases::ObservedStep, step::StepPhase};
use crate::{
    agent::SubtaskWorker,
    outcome::Outcome,
    reply::{AppReply, HostReply},
};

/// The machine at work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SessionMachine {
    /// None; waiting for the next request.
    Idle,
    /// A step of the HostAgent.
    Host(StepPhase<HostReply>),
    /// A step of the AppAgent of a window, or of an agent of another kind.
    App(SubtaskWorker, StepPhase<AppReply>),
    /// A sub-task at an agent that works on its own.
    Delegated(Delegation),
    /// An evaluation.
    Evaluating(Box<EvaluationState>),
    /// None; the outcome was reported.
    Done(Outcome),
    /// The session has ended.
    Over,
}

impl SessionMachine {
    /// Returns `true` if a round is in progress.
    pub(super) const fn is_in_round(&self) -> bool {
        !matches!(self, Self::Idle | Self::Over)
    }

    /// The question of an agent that the model is being asked.
    pub(super) const fn asking(&self) -> Option<&ObservedStep> {
        match self {
            Self::Host(phase) => phase.asking(),
            Self::App(_, phase) => phase.asking(),
            Self::Idle | Self::Delegated(_) | Self::Evaluating(_) | Self::Done(_) | Self::Over => None,
        }
    }

    /// The number of the user's words in the question that is next, if there is one.
    pub(super) fn words_asked(&self) -> Option<u32> {
        match self {
            Self::Evaluating(state) => state.words_asked(),
            Self::Idle | Self::Host(_) | Self::App(..) | Self::Delegated(_) | Self::Done(_) | Self::Over => {
                self.asking().map(|observed| observed.words)
            }
        }
    }

    /// The worker whose agent is at work.
    pub(super) const fn worker(&self) -> Option<SubtaskWorker> {
        if let Self::App(worker, _) = self { Some(*worker) } else { None }
    }
}
