//! Notices an agent that does the same again and sees the same: it is told, then it must take another way, then it is
//! stopped.

use serde::{Deserialize, Serialize};

use super::{config::Limits, gate::Proposal};
use crate::{
    command::{CallResult, Listing, ToolSpec, Verdict},
    text::clip,
};

/// How often in a row an agent's steps were the same.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Stall {
    seen: String,
    did: Vec<String>,
    count: u32,
}

/// What is kept of what was seen and done, in characters; two views that are the same up to there are the same.
const KEPT_CHARS_MAX: usize = 40_000;

impl Stall {
    /// Notes a step and returns how often in a row it has been the same, this time included. A step without
    /// actions is no repetition of anything.
    pub(super) fn note(&mut self, seen: &str, did: &[String]) -> u32 {
        let count = self.repeats(seen, did);
        if count < 2 {
            self.seen = clip(seen, KEPT_CHARS_MAX);
            self.did = did.iter().map(|line| clip(line, KEPT_CHARS_MAX)).collect();
        }
        self.count = count;
        count
    }

    /// How often in a row a step would have been the same, this time included.
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

/// From which repetition on an action is no longer run: the last before the agent is stopped.
fn refused_from(limits: &Limits) -> u32 {
    limits.repeats_max.saturating_sub(1).max(2)
}

/// What an agent is told that repeats itself; none while it does not.
pub(super) fn nudge(count: u32) -> Option<String> {
    (count >= 2).then(|| {
        format!(
            "You have now done exactly the same {count} times, and everything looks as it did before. Do not repeat \
             it: reach the goal another way, or say FAIL and why."
        )
    })
}

/// Why an action that was proposed so often is not run again; none while it may be.
pub(super) fn another_way(
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
        if others.is_empty() { String::new() } else { format!(" There are also: {}.", others.join(", ")) };
    Some(CallResult::failure(
        Some(Verdict::Refused),
        format!(
            "not run: the same was done {} times already and changed nothing. Take another way.{others}",
            repeats.saturating_sub(1)
        ),
    ))
}

/// Whether an agent has repeated itself so often that it is stopped.
pub(super) const fn is_stalled(count: u32, limits: &Limits) -> bool {
    count >= limits.repeats_max
}

/// Why an agent that repeats itself is stopped.
pub(super) fn stalled(count: u32) -> String {
    format!("the same actions were wanted {count} times in a row and nothing changed")
}
