//! Detects an agent that repeats a step without any effect: it gets a notice, then the action is refused, then it is
//! stopped.

use serde::{Deserialize, Serialize};

use super::config::RoundLimits;
use crate::{
    command::{CallResult, ToolCommand, ToolListingLevel, ToolSpec},
    observation::Observation,
    prompt::{ListedElement, listed_elements},
};
use deskhand_ui::action::{Verdict, WindowRef};

/// View of an agent at the start of a step, reduced to the parts that show if the previous step changed
/// anything.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ObservationFingerprint {
    /// Nothing.
    #[default]
    Nothing,
    /// The HostAgent: the windows with whether each is active, and how many sub-tasks failed in a row. A failed sub-task is
    /// new information.
    Desktop { windows: Vec<(WindowRef, bool)>, failures: u32 },
    /// An AppAgent: its windows and what is listed of them; the picture where nothing is.
    Window { windows: Vec<WindowRef>, elements: Vec<ListedElement>, picture: Option<String> },
    /// Another agent: its own text.
    Agent(String),
}

impl ObservationFingerprint {
    /// Returns the view of an agent that has a window or a view of its own.
    pub(super) fn of(observation: &Observation) -> Self {
        match observation {
            Observation::Window(view) => {
                let elements = listed_elements(view);
                let picture = view.picture.as_ref().filter(|_| view.elements().next().is_none());
                Self::Window {
                    windows: view.surfaces.iter().map(|surface| (&surface.window).into()).collect(),
                    elements,
                    picture: picture.map(|picture| picture.sha256.clone()),
                }
            }
            Observation::Agent(view) => Self::Agent(view.text.clone()),
            Observation::Desktop(_) => Self::Nothing,
        }
    }
}

/// Actions of an agent in a step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Did {
    pub(super) commands: Vec<ToolCommand>,
    /// The sub-task that it assigned.
    pub(super) subtask: Option<String>,
}

impl Did {
    const fn is_nothing(&self) -> bool {
        self.commands.is_empty() && self.subtask.is_none()
    }
}

/// Counts identical consecutive steps of an agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Stall {
    seen: ObservationFingerprint,
    did: Did,
    count: u32,
}

impl Stall {
    /// Records a step and returns how many times in a row it was the same, including this one. A step without actions
    /// never counts as a repetition.
    pub(super) fn note(&mut self, seen: ObservationFingerprint, did: Did) -> u32 {
        let count = self.repeats(&seen, &did);
        *self = Self { seen, did, count };
        count
    }

    /// Returns the number of times in a row that the step would be the same, including this one.
    pub(super) fn repeats(&self, seen: &ObservationFingerprint, did: &Did) -> u32 {
        if did.is_nothing() {
            0
        } else if self.did == *did && self.seen == *seen {
            self.count.saturating_add(1)
        } else {
            1
        }
    }
}

/// The repetition from which on an action is refused: the last before the agent is stopped.
fn refused_from(limits: &RoundLimits) -> u32 {
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
    limits: &RoundLimits,
    commands: &[ToolCommand],
    tools: &[ToolSpec],
) -> Option<CallResult> {
    if repeats < refused_from(limits) {
        return None;
    }
    let used: Vec<&str> = commands.iter().map(|command| command.tool.as_str()).collect();
    let known = tools.iter().filter(|tool| tool.listing != ToolListingLevel::Nothing);
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

/// Returns `true` if an agent has repeated itself so often that it is stopped.
pub(super) const fn is_stalled(count: u32, limits: &RoundLimits) -> bool {
    count >= limits.repeats_max
}

/// Why a stalled agent is stopped.
pub(super) fn stalled(count: u32) -> String {
    format!("the same actions were proposed {count} times in a row and nothing changed")
}
