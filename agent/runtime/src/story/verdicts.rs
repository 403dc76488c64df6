//! Counts of calls by result.

use deskhand_machine::command::CallStatus;
use deskhand_ui::action::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ActStory, StepStory};

/// The number of calls by result. Calls that were skipped count nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Verdicts {
    /// Actions whose effect was seen.
    pub seen: u32,
    /// Actions without an effect within the time limit.
    pub not_seen: u32,
    /// Actions that were not carried out.
    pub refused: u32,
    /// Actions whose effect could not be determined, and calls without a result.
    pub unknown: u32,
    /// Read-only calls.
    pub read: u32,
    /// Failed calls without an effect.
    pub failed: u32,
}

impl Verdicts {
    /// Counts the calls of a step.
    pub fn add(&mut self, step: &StepStory) {
        step.acts.iter().for_each(|act| self.add_act(act));
    }

    /// The calls that act, as opposed to those that only read or fail before anything is done.
    pub const fn actions(&self) -> u32 {
        self.seen.saturating_add(self.not_seen).saturating_add(self.refused).saturating_add(self.unknown)
    }

    fn add_act(&mut self, act: &ActStory) {
        let count = match act.result.as_ref().map(|result| (result.status, result.effect)) {
            Some((CallStatus::Skipped, _)) => return,
            None | Some((_, Some(Verdict::Unknown))) => &mut self.unknown,
            Some((_, Some(Verdict::Seen))) => &mut self.seen,
            Some((_, Some(Verdict::NotSeen))) => &mut self.not_seen,
            Some((_, Some(Verdict::Refused))) => &mut self.refused,
            Some((CallStatus::Success, None)) => &mut self.read,
            Some((CallStatus::Failure, None)) => &mut self.failed,
        };
        *count = count.saturating_add(1);
    }
}
