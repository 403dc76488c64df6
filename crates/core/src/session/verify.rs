//! Decides whether actions are verified, so that no model needs to check them.

use crate::{
    command::{ActionCommandInfo, CallStatus, ToolSpec, Verdict},
    reply::ProposedAction,
};

/// Whether every action has a seen effect, or only reads and returned something.
pub(super) fn is_seen(actions: &[ActionCommandInfo], tools: &[ToolSpec]) -> bool {
    actions.iter().all(|info| {
        let reads = tools.iter().any(|tool| tool.name == info.command.tool && !tool.acts);
        info.result.status == CallStatus::Success
            && match info.result.effect {
                Some(Verdict::Seen) => true,
                None => reads,
                Some(Verdict::NotSeen | Verdict::Refused | Verdict::Unknown) => false,
            }
    })
}

/// Whether the last action's result contains what the model expected of it. Without an expectation it never does.
pub(super) fn is_as_expected(proposed: &[ProposedAction], actions: &[ActionCommandInfo]) -> bool {
    let expected = proposed.last().and_then(|action| action.expect.as_deref());
    match (expected, actions.last()) {
        (Some(expected), Some(last)) if proposed.len() == actions.len() => {
            last.result.report.contains(&last.result.output, expected)
        }
        (_, _) => false,
    }
}
