//! Whether what was done is beyond doubt, so that nobody needs to be asked about it.

use crate::{
    command::{ActionCommandInfo, CallStatus, ToolSpec, Verdict},
    prompt::result_text,
    reply::ProposedAction,
};

/// The shortest expectation that says something, in characters.
const EXPECT_CHARS_MIN: usize = 2;

/// Whether all of it was done and seen: every action has a seen effect, or only reads and returned something.
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

/// Whether the last action brought what was expected of it. What is not expected in words never is.
pub(super) fn is_as_expected(proposed: &[ProposedAction], actions: &[ActionCommandInfo]) -> bool {
    let expected = proposed.last().and_then(|action| action.expect.as_deref()).map(even);
    let (Some(expected), Some(last)) = (expected, actions.last()) else { return false };
    if expected.chars().count() < EXPECT_CHARS_MIN || proposed.len() != actions.len() {
        return false;
    }
    let came = result_text(last);
    // A summary repeats what was asked for; that it was asked for shows nothing.
    let came = match (came.split_once("\": "), came.split_once(": ")) {
        (Some((_, came)), _) | (None, Some((_, came))) => came,
        (None, None) => &came,
    };
    even(came).contains(&expected)
}

/// Lower case, with single spaces.
fn even(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
