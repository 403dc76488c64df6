//! The four phases of a step as a chain of types: each value can only be made from the one before.
//!
//! `StepStart → Observed → Replied → Acting → Acted → Recorded`. The compiler checks the order: no phase can be skipped or
//! run twice.

use serde::{Deserialize, Serialize};

use super::{
    effect::{RefusedCommand, StepRef},
    gate::{ClearedCommands, GatedCommand},
};
use crate::{
    command::{ActionCommandInfo, CallResult, CallStatus, ToolCommand, ToolSpec},
    intent::{CommandAim, Does, Takes},
    known_tools::RUN_WORKFLOW,
    model::{MessagePart, ModelMessage, Speaker},
    observation::Observation,
    prompt::is_reading,
    reply::{AppReply, HostReply},
    small::SmallModelOffer,
};
use deskhand_ui::{
    WindowInfo, WindowKind,
    action::{ActionOutcome, Verdict, WindowRef},
    ids::{EffectId, ReadingId, WindowId},
};

/// A new step; input of phase 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StepStart {
    pub(super) step: StepRef,
    /// Failed observations in this step.
    pub(super) looks_failed: u32,
}

/// Phase 1, observation, is done, and what a small model is offered is being ranked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RankingStep {
    pub(super) start: StepStart,
    pub(super) observation: Observation,
    pub(super) offer: SmallModelOffer,
}

/// Phase 1, observation, is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ObservedStep {
    pub(super) step: StepRef,
    pub(super) observation: Observation,
    /// The conversation of this step: system message, view, and any repairs.
    pub(super) messages: Vec<ModelMessage>,
    /// Repair requests in this step.
    pub(super) repairs: u32,
    /// Offer made to a small model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) offer: Option<Box<SmallModelOffer>>,
    /// Number of user messages that the conversation contains.
    #[serde(default)]
    pub(super) words: u32,
    /// Prompt parts that appear only in this request to the model.
    #[serde(default)]
    pub(super) once: OneTimePromptParts,
}

/// The parts of a prompt that appear in one question only. They are kept for the next one if that question is not sent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct OneTimePromptParts {
    /// Its notice.
    pub(super) notice: String,
    /// The last step whose stored pictures the prompt contained.
    pub(super) pictures_to: u32,
}

/// Phase 2, the decision, is done; only its form has been checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RepliedStep<R> {
    pub(super) step: StepRef,
    pub(super) observation: Observation,
    pub(super) reply: R,
}

/// Phase 3, action, in progress: the remaining commands and the calls made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ActingStep<R> {
    pub(super) replied: RepliedStep<R>,
    queue: ClearedCommands,
    /// The command in progress.
    out: Option<Box<ToolCommand>>,
    done: Vec<ActionCommandInfo>,
    /// Those that were refused without being sent.
    #[serde(default)]
    refused: Vec<RefusedCommand>,
    /// A dialog that opened unannounced: only actions that name what it shows may follow.
    #[serde(default)]
    surprise: Option<Box<WindowRef>>,
    /// Observation from a later look in the same step, for elements that were missing at its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seen_since: Option<Box<Observation>>,
    /// The commands that wait for another look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    later: Vec<ToolCommand>,
}

/// Next move in phase 3.
#[derive(Debug)]
pub(super) enum Advance<R> {
    /// Send this command.
    Send(Box<ActingStep<R>>, ToolCommand),
    /// Look again: what the next commands are aimed at was not there at the start of the step.
    Look(Box<ActingStep<R>>),
    /// No command is left.
    Done(ActedStep<R>),
}

/// Phase 3 is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ActedStep<R> {
    pub(super) replied: RepliedStep<R>,
    pub(super) actions: Vec<ActionCommandInfo>,
    /// Those of them that were refused without being sent.
    #[serde(default)]
    pub(super) refused: Vec<RefusedCommand>,
    pub(super) approved: bool,
}

/// Phase 4, recording, is done; holds what decides the transition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RecordedStep<R> {
    pub(super) reply: R,
    pub(super) actions: Vec<ActionCommandInfo>,
    pub(super) approved: bool,
}

impl StepStart {
    pub(super) fn observed(self, observation: Observation, messages: Vec<ModelMessage>) -> ObservedStep {
        ObservedStep {
            step: self.step,
            observation,
            messages,
            repairs: 0,
            offer: None,
            words: 0,
            once: OneTimePromptParts::default(),
        }
    }
}

impl ObservedStep {
    pub(super) fn replied<R>(self, reply: R) -> RepliedStep<R> {
        RepliedStep { step: self.step, observation: self.observation, reply }
    }

    /// A step without a model call.
    pub(super) fn without_model(step: StepRef, observation: Observation) -> Self {
        StepStart { step, looks_failed: 0 }.observed(observation, Vec::new())
    }

    /// Restarts the step.
    pub(super) fn restart(self) -> StepStart {
        StepStart { step: self.step, looks_failed: 0 }
    }

    /// Adds what the user said since the conversation began, if that is anything, to its last message.
    pub(super) fn with_words(mut self, words: &[String], count: u32) -> Self {
        self.words = count;
        if let Some(last) = self.messages.last_mut().filter(|_| !words.is_empty()) {
            let text = format!("# What the user says meanwhile\n\n{}", words.join("\n"));
            last.parts.push(MessagePart::Text { text });
        }
        self
    }

    /// Adds an invalid reply and the repair request to the conversation.
    pub(super) fn with_repair(mut self, said: &str, repair: String) -> Self {
        /// The longest excerpt of an invalid reply that is sent back, in characters.
        const SAID_MAX: usize = 4_000;
        self.messages.push(ModelMessage::text(Speaker::Assistant, deskhand_ui::text::clip(said, SAID_MAX)));
        self.messages.push(ModelMessage::text(Speaker::User, repair));
        self.repairs = self.repairs.saturating_add(1);
        self
    }
}

impl<R> RepliedStep<R> {
    /// Starts phase 3 with the cleared commands.
    pub(super) fn acting(self, cleared: ClearedCommands) -> ActingStep<R> {
        ActingStep {
            replied: self,
            queue: cleared,
            out: None,
            done: Vec::new(),
            refused: Vec::new(),
            surprise: None,
            seen_since: None,
            later: Vec::new(),
        }
    }
}

impl Observation {
    /// The name of a command's target: an element or window that is shown.
    fn target_of(&self, command: &ToolCommand) -> Option<String> {
        let id = command.arguments.get("id")?.as_str()?.trim();
        match self {
            Self::Window(view) => {
                let id = id.parse().ok()?;
                view.elements().find(|element| element.id == id).map(deskhand_ui::Element::label)
            }
            Self::Agent(_) => None,
            Self::Desktop(view) => {
                let id = id.parse().ok()?;
                view.windows.iter().find(|window| window.id == id).map(WindowInfo::label)
            }
        }
    }
}

impl<R> ActingStep<R> {
    /// Returns the latest observation: from the start of the step, or from a later look.
    pub(super) fn observation(&self) -> &Observation {
        self.seen_since.as_deref().unwrap_or(&self.replied.observation)
    }

    /// The commands that wait for another look.
    pub(super) fn waiting(&self) -> &[ToolCommand] {
        &self.later
    }

    /// Returns `true` if there was another look since the start of the step.
    pub(super) const fn has_looked_again(&self) -> bool {
        self.seen_since.is_some()
    }

    /// The name of a command's target: an element or window that was seen.
    pub(super) fn target_of(&self, command: &ToolCommand) -> Option<String> {
        self.observation().target_of(command)
    }

    /// Returns `true` if a command names its target by something that the agent was not shown at the start of the step: an element
    /// that is not in the view, or a path of names.
    fn names_beyond(&self, command: &ToolCommand) -> bool {
        let id = command.arguments.get("id").and_then(|id| id.as_str()?.trim().parse().ok());
        match (&self.replied.observation, id) {
            (Observation::Window(view), Some(id)) => view.elements().all(|element| element.id != id),
            (_, _) => follows_a_path(command),
        }
    }

    /// Takes in another look; returns the commands that waited for it. A dialog that opened is no surprise to one of these `tools`
    /// that is for it.
    pub(super) fn looked_again(&mut self, observation: Observation, tools: &[ToolSpec]) -> Vec<ToolCommand> {
        self.seen_since = Some(Box::new(observation));
        let later = std::mem::take(&mut self.later);
        let takes = later.first().map_or(&[][..], |first| first.takes_in(tools));
        if takes.iter().any(|(_, takes)| *takes == Takes::Chosen) {
            self.surprise = None;
        }
        later
    }

    /// Goes on with commands that were judged after another look.
    pub(super) fn resumed(mut self, cleared: ClearedCommands) -> Self {
        self.queue.extend(cleared);
        self
    }

    /// Ends phase 3 without executing what is left of the proposal.
    pub(super) fn broken_off(self) -> ActedStep<R> {
        ActedStep {
            replied: self.replied,
            actions: self.done,
            refused: self.refused,
            approved: self.queue.approved(),
        }
    }
}

impl<R: Expects> ActingStep<R> {
    /// The next command to send, or the end of the phase.
    pub(super) fn next(mut self) -> Advance<R> {
        loop {
            self.later = self.queue.take_later();
            if !self.later.is_empty() {
                return Advance::Look(Box::new(self));
            }
            match self.queue.pop() {
                // These were taken out.
                Some(GatedCommand::Later(_)) => {}
                Some(GatedCommand::Send(command)) => {
                    let names_beyond = self.names_beyond(&command);
                    if let Some(dialog) = self.surprise.take_if(|_| !names_beyond) {
                        let why = format!(
                            "not run, because {} opened first; check it before you continue",
                            dialog.label()
                        );
                        self.out = Some(Box::new(command));
                        self.skip(&CallResult::skipped_because(why));
                        continue;
                    }
                    self.out = Some(Box::new(command.clone()));
                    if command.intent.does == Does::Delegate {
                        // Carried out by the assignment that ends the step.
                        self.returned(
                            CallResult::permitted(),
                            /*sequences*/ true,
                            /*answers*/ None,
                        );
                        continue;
                    }
                    return Advance::Send(Box::new(self), command);
                }
                Some(GatedCommand::Refuse(command, result)) => {
                    if result.status == CallStatus::Failure {
                        self.refused
                            .push(RefusedCommand { command: command.clone(), result: (*result).clone() });
                    }
                    self.out = Some(Box::new(command));
                    self.returned(*result, /*sequences*/ true, /*answers*/ None);
                }
                None => return Advance::Done(self.broken_off()),
            }
        }
    }

    /// Records the result of the command in progress, which answers an effect if it was sent. The first failure skips the rest, and a
    /// dialog that nobody announced all that does not name what it shows; without `sequences` any result skips the rest.
    pub(super) fn returned(&mut self, result: CallResult, sequences: bool, answers: Option<EffectId>) {
        let succeeded = result.is_success();
        let runs_workflow = self.tool() == RUN_WORKFLOW;
        let expected = self.replied.reply.expected(self.done.len());
        let surprise = self.out.as_ref().and_then(|command| unannounced_window(command, &result, expected));
        self.surprise = surprise.map(|window| Box::new(WindowRef::from(window)));
        self.keep_answer(result, answers);
        match () {
            () if !succeeded => self.skip(&CallResult::skipped()),
            () if runs_workflow => self.skip(&CallResult::skipped_because(AFTER_WORKFLOW)),
            () if !sequences => self.skip(&CallResult::skipped_because(ONE_ACTION)),
            () => {}
        }
    }

    /// The tool of the command in progress.
    pub(super) fn tool(&self) -> &str {
        self.out.as_ref().map_or("", |command| &command.tool)
    }

    /// Returns the kind of action that the command in progress performs.
    pub(super) fn does(&self) -> Does {
        self.out.as_ref().map_or(Does::Other, |command| command.intent.does)
    }

    /// The window of the command in progress.
    pub(super) fn window(&self) -> Option<WindowId> {
        self.out.as_ref().and_then(|command| command.window)
    }

    /// Records that the window could not be read again: the commands that wait for it do not run.
    pub(super) fn not_looked_again(&mut self, why: &str) {
        let mut later = std::mem::take(&mut self.later).into_iter();
        self.out = later.next().map(Box::new);
        self.keep(CallResult::failure(Some(Verdict::Refused), format!("not run: {why}")));
        for command in later {
            self.out = Some(Box::new(command));
            self.keep(CallResult::skipped());
        }
    }

    /// Ends phase 3 because a person took over. What has not run is recorded as not run; if nothing has, the step starts over.
    pub(super) fn given_up(mut self, why: &str) -> Result<ActedStep<R>, StepStart> {
        if self.done.is_empty() {
            return Err(StepStart { step: self.replied.step, looks_failed: 0 });
        }
        let skipped = CallResult::skipped_because(why);
        self.keep(skipped.clone());
        for command in std::mem::take(&mut self.later) {
            self.out = Some(Box::new(command));
            self.keep(skipped.clone());
        }
        self.skip(&skipped);
        Ok(self.broken_off())
    }

    /// Records the command in progress, if any, and all that follow as not run.
    fn skip(&mut self, skipped: &CallResult) {
        self.keep(skipped.clone());
        while let Some(passed) = self.queue.pop() {
            let (GatedCommand::Send(command)
            | GatedCommand::Refuse(command, _)
            | GatedCommand::Later(command)) = passed;
            self.out = Some(Box::new(command));
            self.keep(skipped.clone());
        }
    }

    fn keep(&mut self, result: CallResult) {
        self.keep_answer(result, /*answers*/ None);
    }

    fn keep_answer(&mut self, result: CallResult, answers: Option<EffectId>) {
        if let Some(command) = self.out.take().map(|command| *command) {
            let target = self.target_of(&command);
            let mut info = ActionCommandInfo { command, target, result, reading: None };
            info.reading = answers.filter(|_| is_reading(&info)).map(ReadingId::from);
            self.done.push(info);
        }
    }
}

/// The result of further actions if only one per step is allowed.
const ONE_ACTION: &str =
    "not run, because only one action per step is allowed; give the next one in your next reply";

/// The result of actions after one that runs a workflow.
const AFTER_WORKFLOW: &str = "not run, because the workflow comes first; look at what it leaves";

/// Returns `true` if a command names its target by a path, such as menu entries.
fn follows_a_path(command: &ToolCommand) -> bool {
    command.intent.aims.iter().any(|aimed| matches!(aimed, CommandAim::Path { .. }))
}

/// A reply whose actions may say what to expect.
pub(super) trait Expects {
    /// Returns the result that the action at `index` is expected to show.
    fn expected(&self, index: usize) -> Option<&str>;
}

impl Expects for AppReply {
    fn expected(&self, index: usize) -> Option<&str> {
        self.actions.get(index)?.expect.as_deref()
    }
}

impl Expects for HostReply {
    fn expected(&self, index: usize) -> Option<&str> {
        self.action.as_ref().filter(|_| index == 0)?.expect.as_deref()
    }
}

/// The window or dialog that a command of an AppAgent opened unannounced, and that is still open. One is announced by the tool,
/// by an ellipsis in the name of the target, or by what the model expects.
pub(super) fn unannounced_window<'a>(
    command: &ToolCommand,
    result: &'a CallResult,
    expected: Option<&str>,
) -> Option<&'a WindowInfo> {
    let intent = &command.intent;
    let opens = matches!(intent.does, Does::Open | Does::Switch) || follows_a_path(command);
    let opened = result.window.as_ref().filter(|window| !window.kind.is_popup())?;
    let report = &result.report;
    let has_ellipsis = |action: &ActionOutcome| {
        let target = action.aim.named_element();
        target.is_some_and(|element| element.name.ends_with('…') || element.name.ends_with("..."))
    };
    let announced = command.window.is_none()
        || opens
        || report.actions().iter().any(has_ellipsis)
        || expected.is_some_and(|expected| report.contains(&result.output, expected));
    (!announced && !report.shows_closed(opened)).then_some(opened)
}

impl RecordedStep<AppReply> {
    /// The dialog that one of the actions opened unannounced and that is still open.
    pub(super) fn open_question(&self) -> Option<&WindowInfo> {
        for (index, info) in self.actions.iter().enumerate() {
            let expected = self.reply.expected(index);
            let Some(opened) = unannounced_window(&info.command, &info.result, expected) else { continue };
            let later = self.actions.get(index.saturating_add(1)..).unwrap_or_default();
            let closed = later.iter().any(|info| info.result.report.shows_closed(opened));
            if opened.kind == WindowKind::Dialog && !closed {
                return Some(opened);
            }
        }
        None
    }
}

impl<R> RecordedStep<R> {
    /// The first action that failed or was not run.
    pub(super) fn failure(&self) -> Option<&ActionCommandInfo> {
        self.actions.iter().find(|info| !info.result.is_success())
    }
}
