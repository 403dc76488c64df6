//! Detects an agent that repeats a step without any effect: it gets a notice, then the action is refused, then it is
//! stopped.

use serde::{Deserialize, Serialize};

use super::{config::Limits, gate::Proposal};
use crate::{
    command::{CallResult, Listing, ToolSpec, Verdict},
    text::clip,
};

/// Counts identical consecutive steps of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Stall {
    seen: String,
    did: Vec<String>,
    count: u32,
}

/// The longest prefix of an observation that is compared, in characters.
const KEPT_CHARS_MAX: usize = 40_000;

impl Stall {
    /// Records a step and returns how many times in a row it was the same, including this one. A step without actions
    /// never counts as a repetition.
    pub(super) fn note(&mut self, seen: &str, did: &[String]) -> u32 {
        let count = self.repeats(seen, did);
        if count < 2 {
            self.seen = clip(seen, KEPT_CHARS_MAX);
            self.did = did.iter().map(|line| clip(line, KEPT_CHARS_MAX)).collect();
        }
        self.count = count;
        count
    }

    /// How many times in a row the step would be the same, including this one.
    pub(super) fn repeats(&self, seen: &str, did: &[String]) -> u32 {
        let same = self.did.len() == did.len()
            && self.did.iter().zip(did).all(|(before, now)| *before == clip(now, KEPT_CHARS_MAX))
            && self.seen == clip(seen, KEPT_CHARS_MAX);
        match did {
            [] => 0,
            _ if same => self.count.saturating_add(1),
            _ => 1,
        }
    }
}

/// The repetition from which on an action is refused: the last before the agent is stopped.
fn refused_from(limits: &Limits) -> u32 {
    limits.repeats_max.saturating_sub(1).max(2)
}

/// The notice to an agent that repeats itself; `None` if it does not.
pub(super) fn repetition_notice(count: u32) -> Option<String> {
    (count >= 2).then(|| {
        format!(
            "You did exactly the same {count} times, and nothing changed. Do not repeat \
             it: reach the goal another way, or FAIL with the reason."
        )
    })
}

/// Refuses an action that was repeated too often; `None` if it may run.
pub(super) fn refuse_repetition(
    repeats: u32,
    limits: &Limits,
    proposal: &Proposal,
    tools: &[ToolSpec],
) -> Option<CallResult> {
    if repeats < refused_from(limits) {
        return None;
    }
    let used: Vec<&str> = proposal.commands.iter().map(|command| command.tool.as_str()).collect();
    let known = tools.iter().filter(|tool| tool.listing != Listing::Nothing);
    let others: Vec<&str> =
        known.map(|tool| tool.name.as_str()).filter(|name| !used.contains(name)).collect();
    let others =
        if others.is_empty() { String::new() } else { format!(" Also available: {}.", others.join(", ")) };
    Some(CallResult::failure(
        Some(Verdict::Refused),
        format!(
            "not run: the same action ran {} times and changed nothing. Try another way.{others}",
            repeats.saturating_sub(1)
        ),
    ))
}

/// Whether an agent has repeated itself so often that it is stopped.
pub(super) const fn is_stalled(count: u32, limits: &Limits) -> bool {
    count >= limits.repeats_max
}

/// Why a stalled agent is stopped.
pub(super) fn stalled(count: u32) -> String {
    format!("the same actions were proposed {count} times in a row and nothing changed")
}
