//! Decides whether a sub-task is verified by its last actions, so that no model needs to check it.

use serde::{Deserialize, Serialize};

use crate::{
    command::{ActionCommandInfo, CallStatus, ToolSpec},
    reply::ProposedAction,
};
use deskhand_ui::{
    action::Verdict,
    text::{clip, one_line},
};

/// The most facts in a doubt, and the longest, in characters.
const FACTS_MAX: usize = 6;
const FACT_CHARS_MAX: usize = 160;

/// Why a sub-task that its agent reports as done has to be checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Doubt {
    /// The agent is of a kind whose effects are not observed here, or did nothing.
    NothingDone,
    /// The effect of one of the last actions was not seen.
    NotSeen {
        /// The command.
        command: String,
    },
    /// The agent did not say what to expect.
    NothingExpected,
    /// No effect and no output of the last actions contains the text that the agent expected.
    NotMet {
        /// Expected text.
        expected: String,
        /// Texts of the effects.
        found: Vec<String>,
    },
    /// The window closed before the agent reported the sub-task as done.
    WindowClosed,
}

impl Doubt {
    /// Why the HostAgent is asked although it planned the next sub-task.
    pub(super) fn notice(&self) -> String {
        let why = match self {
            Self::NothingDone => "no action of it was observed".to_owned(),
            Self::NotSeen { command } => format!("the effect of {command} was not seen"),
            Self::NothingExpected => "no `expect` was given with its last action".to_owned(),
            Self::NotMet { expected, found } if found.is_empty() => {
                format!("“{expected}” was expected, and its last actions show nothing of the kind")
            }
            Self::NotMet { expected, found } => {
                format!("“{expected}” was expected; its last actions show: {}", found.join(" | "))
            }
            Self::WindowClosed => "its window closed as its last action meant".to_owned(),
        };
        format!("The sub-tasks you planned with `next` wait for you to check the last one: {why}.")
    }
}

/// Returns the reason why the actions of one step do not verify the sub-task. An earlier action that failed and
/// was repaired since is no doubt: only the last effects count.
pub(super) fn doubt_of(
    proposed: &[ProposedAction],
    actions: &[ActionCommandInfo],
    tools: &[ToolSpec],
) -> Option<Doubt> {
    if let Some(info) = actions.iter().find(|info| !is_seen(info, tools)) {
        return Some(Doubt::NotSeen { command: info.command.to_line() });
    }
    let expected: Vec<&str> = proposed.iter().filter_map(|action| action.expect.as_deref()).collect();
    if expected.is_empty() || proposed.len() != actions.len() {
        return Some(Doubt::NothingExpected);
    }
    let is_met = |expected: &&&str| {
        actions.iter().any(|info| info.result.report.contains(&info.result.output, expected))
    };
    let missing = expected.iter().find(|expected| !is_met(expected))?;
    let facts = actions.iter().flat_map(|info| info.result.report.facts());
    Some(Doubt::NotMet {
        expected: clip(&one_line(missing), FACT_CHARS_MAX),
        found: facts.take(FACTS_MAX).map(|fact| clip(&one_line(&fact), FACT_CHARS_MAX)).collect(),
    })
}

/// Returns `true` if the effect of an action was seen, or it only reads and returned something.
fn is_seen(info: &ActionCommandInfo, tools: &[ToolSpec]) -> bool {
    let reads = tools.iter().any(|tool| tool.name == info.command.tool && !tool.acts);
    info.result.status == CallStatus::Success
        && match info.result.effect {
            Some(Verdict::Seen) => true,
            None => reads,
            Some(Verdict::NotSeen | Verdict::Refused | Verdict::Unknown) => false,
        }
}
