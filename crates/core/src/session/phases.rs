//! The four phases of a step as types that chain: each can only be made from the one before it.
//!
//! `StepStart → Observed → Replied → Acting → Acted → Recorded`. The order is checked by the compiler: a phase takes
//! the value that the one before it returns, so none can be skipped or run twice.

use serde::{Deserialize, Serialize};

use super::{
    effect::StepRef,
    gate::{Cleared, Passed},
};
use crate::{
    blackboard::{Blackboard, Trajectory},
    command::{ActionCommandInfo, CallResult, Command},
    known_tools,
    memory::{Memory, MemoryItem},
    model::{Message, Speaker},
    observation::Observation,
    prompt::result_text,
    ui::WindowKind,
};

/// A step that begins; what phase 1 starts from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StepStart {
    pub(super) step: StepRef,
    /// How often looking has failed in this step.
    pub(super) looks_failed: u32,
}

/// Phase 1, data collection, is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Observed {
    pub(super) step: StepRef,
    pub(super) observation: Observation,
    /// The conversation of this step: instructions, view, and any repairs.
    pub(super) messages: Vec<Message>,
    /// How often the model was asked again in this step.
    pub(super) repairs: u32,
}

/// Phase 2, the model's decision, is done; the decision has the right form, nothing more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Replied<R> {
    pub(super) step: StepRef,
    pub(super) observation: Observation,
    pub(super) reply: R,
}

/// Phase 3, action, under way: commands that are still to run, calls that were made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Acting<R> {
    pub(super) replied: Replied<R>,
    queue: Cleared,
    /// The command that is out now.
    out: Option<Command>,
    done: Vec<ActionCommandInfo>,
}

/// What follows in phase 3.
#[derive(Debug)]
pub(super) enum Advance<R> {
    /// A command goes out.
    Send(Box<Acting<R>>, Command),
    /// None is left.
    Done(Acted<R>),
}

/// Phase 3 is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Acted<R> {
    pub(super) replied: Replied<R>,
    pub(super) actions: Vec<ActionCommandInfo>,
    pub(super) approved: bool,
}

/// Phase 4, memory, is done; all that is left of the step is what the machine moves on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recorded<R> {
    pub(super) reply: R,
    pub(super) actions: Vec<ActionCommandInfo>,
    pub(super) approved: bool,
}

impl StepStart {
    pub(super) fn observed(self, observation: Observation, messages: Vec<Message>) -> Observed {
        Observed { step: self.step, observation, messages, repairs: 0 }
    }
}

impl Observed {
    pub(super) fn replied<R>(self, reply: R) -> Replied<R> {
        Replied { step: self.step, observation: self.observation, reply }
    }

    /// A step in which no model is asked.
    pub(super) const fn unasked(step: StepRef, observation: Observation) -> Self {
        Self { step, observation, messages: Vec::new(), repairs: 0 }
    }

    /// The same step from its beginning.
    pub(super) fn again(self) -> StepStart {
        StepStart { step: self.step, looks_failed: 0 }
    }

    /// The same step with the model's unusable reply and what is wrong with it.
    pub(super) fn asked_again(mut self, said: &str, repair: String) -> Self {
        /// What is sent back of an unusable reply, in characters.
        const SAID_MAX: usize = 4_000;
        self.messages.push(Message::text(Speaker::Assistant, crate::text::clip(said, SAID_MAX)));
        self.messages.push(Message::text(Speaker::User, repair));
        self.repairs = self.repairs.saturating_add(1);
        self
    }
}

impl<R> Replied<R> {
    /// Phase 3 begins, with what the gate let through.
    pub(super) fn acting(self, cleared: Cleared) -> Acting<R> {
        Acting { replied: self, queue: cleared, out: None, done: Vec::new() }
    }

    /// The end of phase 3 without any action: what was proposed is not carried out.
    pub(super) fn not_acted(self) -> Acted<R> {
        Acted { replied: self, actions: Vec::new(), approved: false }
    }

    /// The name of what a command is about: an element or window that the agent was shown.
    pub(super) fn target_of(&self, command: &Command) -> Option<String> {
        let id = command.arguments.get("id")?.as_str()?.trim();
        match &self.observation {
            Observation::Window(view) => {
                let id = id.parse().ok()?;
                view.elements().find(|element| element.id == id).map(crate::ui::Element::label)
            }
            Observation::Agent(_) => None,
            Observation::Desktop(view) => {
                let id = id.parse().ok()?;
                view.windows.iter().find(|window| window.id == id).map(crate::ui::WindowInfo::label)
            }
        }
    }
}

impl<R> Acting<R> {
    /// The next command to send, or the end of the phase.
    pub(super) fn next(mut self) -> Advance<R> {
        loop {
            match self.queue.pop() {
                Some(Passed::Send(command)) => {
                    self.out = Some(command.clone());
                    return Advance::Send(Box::new(self), command);
                }
                Some(Passed::Refuse(command, result)) => {
                    self.out = Some(command);
                    self.returned(*result, /*sequences*/ true);
                }
                None => {
                    let approved = self.queue.approved();
                    return Advance::Done(Acted { replied: self.replied, actions: self.done, approved });
                }
            }
        }
    }

    /// Takes the result of the command that is out. The first failure or surprise ends the phase, and where no
    /// `sequences` are allowed any result does: the rest is skipped.
    pub(super) fn returned(&mut self, result: CallResult, sequences: bool) {
        let skipped = match self.out.as_ref().and_then(|command| surprise(command, &result)) {
            _ if !result.is_success() => Some(CallResult::skipped()),
            Some(surprise) => Some(CallResult { summary: surprise, ..CallResult::skipped() }),
            None if sequences => None,
            None => Some(CallResult { summary: ONE_ACTION.to_owned(), ..CallResult::skipped() }),
        };
        self.keep(result);
        while let Some(skipped) = &skipped
            && let Some(passed) = self.queue.pop()
        {
            let (Passed::Send(command) | Passed::Refuse(command, _)) = passed;
            self.out = Some(command);
            self.keep(skipped.clone());
        }
    }

    fn keep(&mut self, result: CallResult) {
        if let Some(command) = self.out.take() {
            let target = self.replied.target_of(&command);
            self.done.push(ActionCommandInfo { command, target, result });
        }
    }
}

/// What is said of the further actions of a step where each step has one.
const ONE_ACTION: &str =
    "not run, because one action a step is allowed; give the next one in your next reply";

/// Why the actions that follow must not be run unseen: a window or dialog opened that the command was not for.
fn surprise(command: &Command, result: &CallResult) -> Option<String> {
    const OPENS: [&str; 3] = [known_tools::LAUNCH, known_tools::SELECT_WINDOW, known_tools::VISIT];
    let opened = result.window.as_ref().filter(|window| window.kind != WindowKind::Popup)?;
    let surprises = command.window.is_some() && !OPENS.contains(&command.tool.as_str());
    surprises.then(|| format!("not run, because {} opened before it; look at that first", opened.label()))
}

impl<R> Acted<R> {
    /// Phase 4: the step goes into the agent's memory and onto the blackboard.
    pub(super) fn record(
        self,
        thought: String,
        plan: Vec<String>,
        status: String,
        memory: &mut Memory,
        blackboard: &mut Blackboard,
    ) -> Recorded<R> {
        let step = self.replied.step;
        memory.add(MemoryItem {
            step: step.number,
            thought,
            actions: self.actions.clone(),
            status: status.clone(),
            plan,
        });
        blackboard.add_trajectory(Trajectory {
            step: step.number,
            agent: step.agent,
            subtask: step.subtask,
            actions: self.actions.iter().map(|info| info.command.to_line()).collect(),
            results: self.actions.iter().map(result_text).collect(),
            status,
        });
        Recorded { reply: self.replied.reply, actions: self.actions, approved: self.approved }
    }
}

impl<R> Recorded<R> {
    /// The first action that failed or was not run.
    pub(super) fn failure(&self) -> Option<&ActionCommandInfo> {
        self.actions.iter().find(|info| !info.result.is_success())
    }
}
