//! Line that describes the current wait of a session.

use deskhand_runtime::{SessionWait, WaitReason};
use deskhand_ui::{duration::milliseconds, text::one_line};
use tokio::time::Instant;

use super::{
    describe::number,
    progress::{bad, note},
};
use crate::output::StyledLine;

/// Renders the cause and duration of a wait; for a request that is retried, the reason and the time of the
/// retry.
pub(crate) fn waiting_line(waiting: &SessionWait, now: Instant) -> StyledLine {
    let since =
        in_words(milliseconds(now.saturating_duration_since(waiting.since)).saturating_add(500) / 1_000);
    let said = match &waiting.on {
        WaitReason::LocalModel => "the local model to load".to_owned(),
        WaitReason::Desktop => "the desktop to start; one of GNOME or KDE may ask you first".to_owned(),
        WaitReason::Opening(what) if what.is_empty() => "the desktop to be ready".to_owned(),
        WaitReason::Opening(what) => format!("{} to open", one_line(&what.join(", "))),
        WaitReason::Help => "retrievers".to_owned(),
        WaitReason::Look => "applications to show their windows".to_owned(),
        WaitReason::Reply { model, received: 0, .. } => format!("a reply of {model}"),
        WaitReason::Reply { model, received, .. } => {
            format!("the rest of a reply of {model}, {} bytes so far", number(*received as u64))
        }
        WaitReason::Retry { reason, at, attempt, attempts_max, .. } => {
            // Rounded up: "in 0 s" would be no time at all.
            let when = match milliseconds(at.saturating_duration_since(now)).div_ceil(1_000) {
                0 => "now".to_owned(),
                left => format!("in {}", in_words(left)),
            };
            let next = format!("next try {when}, {attempt} of {attempts_max}");
            return bad("model", &format!("{next}: {}", one_line(reason)));
        }
        WaitReason::Tool { tool, agent } => format!("{tool} of {agent}"),
        WaitReason::Agent { subtask, state } => {
            let state = if state.is_empty() { String::new() } else { format!(": {}", one_line(state)) };
            format!("an agent that works on “{}”{state}", one_line(subtask))
        }
        WaitReason::Answers => "your answer".to_owned(),
        WaitReason::Approval => "your decision".to_owned(),
        WaitReason::Request => "your request".to_owned(),
        WaitReason::Closing => "applications to close".to_owned(),
    };
    note("waiting", &format!("{since} for {said}"))
}

/// Seconds in words: `12 s`, `2 min 5 s`.
fn in_words(seconds: u64) -> String {
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_waited_for_and_since_when() {
        let since = Instant::now();
        let check = |on: WaitReason, expected: &str| {
            let line = waiting_line(&SessionWait { on, since }, since + Duration::from_millis(124_600));
            assert_eq!(line.to_string(), expected);
        };
        let model = || "openai big at http://localhost/v1".to_owned();
        check(
            WaitReason::Reply { model: model(), received: 0, words: String::new() },
            "  waiting   2 min 5 s for a reply of openai big at http://localhost/v1",
        );
        check(
            WaitReason::Reply { model: model(), received: 12_345, words: "{\"thought\"".to_owned() },
            "  waiting   2 min 5 s for the rest of a reply of openai big at http://localhost/v1, 12,345 bytes so far",
        );
        let at = since + Duration::from_secs(130);
        check(
            WaitReason::Retry {
                model: model(),
                reason: "it returned 503".to_owned(),
                at,
                attempt: 3,
                attempts_max: 8,
            },
            "  model     next try in 6 s, 3 of 8: it returned 503",
        );
        check(
            WaitReason::Opening(vec!["a.odt".to_owned(), "b\u{1b}[2J".to_owned()]),
            "  waiting   2 min 5 s for a.odt, b [2J to open",
        );
        check(WaitReason::LocalModel, "  waiting   2 min 5 s for the local model to load");
        check(
            WaitReason::Desktop,
            "  waiting   2 min 5 s for the desktop to start; one of GNOME or KDE may ask you first",
        );
    }
}
