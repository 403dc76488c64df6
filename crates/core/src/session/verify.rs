//! Decides whether actions are verified, so that no model needs to check them.

use crate::{
    command::{ActionCommandInfo, CallStatus, ToolSpec, Verdict},
    prompt::result_text,
    reply::ProposedAction,
};

/// The shortest useful expectation, in characters.
const EXPECT_CHARS_MIN: usize = 2;

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

/// Whether the last action's result matches its expectation. Without an expectation it never does.
pub(super) fn is_as_expected(proposed: &[ProposedAction], actions: &[ActionCommandInfo]) -> bool {
    let expected = proposed.last().and_then(|action| action.expect.as_deref()).map(normalize);
    let (Some(expected), Some(last)) = (expected, actions.last()) else { return false };
    if expected.chars().count() < EXPECT_CHARS_MIN || proposed.len() != actions.len() {
        return false;
    }
    let came = result_text(last);
    // A summary repeats the arguments, which prove nothing.
    let came = match (came.split_once("\": "), came.split_once(": ")) {
        (Some((_, came)), _) | (None, Some((_, came))) => came,
        (None, None) => &came,
    };
    normalize(came).contains(&expected)
}

/// Normalizes to lower case with single spaces.
fn normalize(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
