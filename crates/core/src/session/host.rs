//! The HostAgent's steps: decompose, pick the target, assign, judge.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    agents::Owner,
    commands::{approval_line, unknown_tool},
    effect::{Approval, AskedBy, Effect, StepRef},
    event::{Event, NoAnswer},
    machine::{Phase, Session, Stage, messages, misfit},
    phases::{Acted, Acting, Advance, Observed, Recorded, Replied, StepStart},
    stall::{Stall, nudge, stalled},
};
use crate::{
    command::{CallResult, Command},
    memory::Memory,
    observation::{Look, Observation},
    outcome::OutcomeKind,
    prompt::{HostInput, PromptError, host_user_text, system_message, targets_text},
    reply::{HostReply, LAUNCH, Question, SELECT_WINDOW, parse_host_reply},
    states::{HostStatus, HostTrigger, next_host},
    ui::WindowInfo,
};

/// The agent that owns the round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct HostAgent {
    pub(super) status: HostStatus,
    pub(super) memory: Memory,
    stall: Stall,
    /// What it must know at its next step.
    pub(super) notice: String,
}

impl Default for HostAgent {
    fn default() -> Self {
        Self {
            status: HostStatus::Continue,
            memory: Memory::default(),
            stall: Stall::default(),
            notice: String::new(),
        }
    }
}

impl HostAgent {
    /// Starts over, with the memory of earlier rounds.
    pub(super) fn begin_round(&mut self) {
        *self = Self { memory: std::mem::take(&mut self.memory), ..Self::default() };
    }
}

/// The name of the HostAgent in records and prompts.
pub(super) const HOST_AGENT: &str = "HostAgent";

/// What an agent is told instead of an answer when nobody can be asked.
pub(super) const DECIDE_YOURSELF: &str = "nobody can be asked; decide yourself and do not ask again";

impl Session {
    pub(super) fn begin_host_step(&mut self) {
        let Some(number) = self.next_step() else { return };
        let step = StepRef { number, agent: HOST_AGENT.to_owned(), subtask: String::new() };
        self.look_at_desktop(StepStart { step, looks_failed: 0 });
    }

    pub(super) fn look_at_desktop(&mut self, start: StepStart) {
        let step = start.step.clone();
        let look = Look::Desktop { picture: self.config.pictures };
        self.look(Stage::Host(Phase::Observing(start)), step, look);
    }

    pub(super) fn host_event(&mut self, phase: Phase<HostReply>, event: Event) {
        match (phase, event) {
            (Phase::Observing(start), Event::Observed { observation }) => {
                self.host_observed(start, observation);
            }
            (Phase::Observing(mut start), Event::ObserveFailed { failure }) => {
                start.looks_failed = start.looks_failed.saturating_add(1);
                if failure.desktop_gone || start.looks_failed >= self.config.limits.looks_failed_max {
                    self.break_off(format!("the desktop could not be seen: {failure}"));
                } else {
                    self.look_at_desktop(start);
                }
            }
            (Phase::Asking(observed), Event::Replied { reply }) => {
                self.count_reply(&reply);
                match parse_host_reply(&reply.text) {
                    Ok(decision) => self.host_decided(observed, decision),
                    Err(error) => self.repair(observed, &reply.text, &error.to_string(), None),
                }
            }
            (Phase::Asking(_), Event::ModelFailed { failure }) => {
                self.count_model_failure(&failure);
                self.break_off(format!("the model gave no reply: {failure}"));
            }
            (Phase::Acting(mut acting), Event::Returned { result }) => {
                acting.returned(result);
                self.host_acting(acting);
            }
            (Phase::Parked(replied), Event::Approved { scope: _ }) => {
                let commands = self.host_commands(&replied.reply);
                self.host_acting(replied.acting(commands, /*approved*/ true));
            }
            (Phase::Parked(replied), Event::Rejected { instruction }) => {
                self.host_not_approved(replied, instruction);
            }
            (Phase::Parked(replied), Event::Unanswered { .. }) => self.host_not_approved(replied, None),
            (Phase::Questioning(questions), Event::Answered { answers }) => {
                self.note_answers(&questions, &answers);
                self.host_moves(HostTrigger::Answered);
            }
            (Phase::Questioning(questions), Event::Unanswered { why }) => {
                let trigger = if self.note_no_answer(&questions, why) {
                    HostTrigger::Answered
                } else {
                    HostTrigger::Unanswered
                };
                self.host_moves(trigger);
            }
            (phase, event) => self.break_off(misfit(&phase, &event)),
        }
    }

    fn host_observed(&mut self, start: StepStart, observation: Observation) {
        let Observation::Desktop(view) = &observation else {
            self.break_off("a window was shown where the desktop was asked for");
            return;
        };
        self.targets.set_windows(view.windows.clone());
        let windows = self.targets.windows();
        self.apps.retain(|app| match &app.owner {
            Owner::Window(window) => windows.iter().any(|known| known.id == window.id),
            Owner::Agent(..) => true,
        });
        let picture = view.picture.clone();
        match self.host_prompt() {
            Ok((system, user)) => {
                let messages = messages(system, user, picture.as_ref());
                self.ask(start.observed(observation, messages), None);
            }
            Err(error) => self.break_off(error.to_string()),
        }
    }

    fn host_prompt(&self) -> Result<(String, String), PromptError> {
        let system = system_message("host_system", &self.prompts.host_system, &self.config.host_tools)?;
        let input = HostInput {
            request: &self.round.request,
            targets: &self.targets,
            subtasks: &self.round.subtasks,
            blackboard: &self.blackboard,
            memory: &self.host.memory,
            notice: &self.host.notice,
        };
        Ok((system, host_user_text(&self.prompts, &input)?))
    }

    fn host_decided(&mut self, observed: Observed, reply: HostReply) {
        let step = observed.step.clone();
        let status = reply.status;
        let replied = observed.replied(reply);
        match status {
            HostStatus::Confirm => {
                self.host.status = next_host(self.host.status, HostTrigger::Said(HostStatus::Confirm));
                let approval = Approval {
                    commands: self.host_commands(&replied.reply),
                    reason: replied.reply.thought.clone(),
                    asked_by: AskedBy::Model,
                };
                self.want(
                    Stage::Host(Phase::Parked(replied)),
                    Some(step),
                    Effect::AwaitApproval { approval },
                );
            }
            HostStatus::Pending | HostStatus::Fail | HostStatus::Error => {
                self.host_acting(replied.acting(Vec::new(), /*approved*/ false));
            }
            HostStatus::Continue | HostStatus::Assign | HostStatus::Finish => {
                let commands = self.host_commands(&replied.reply);
                self.host_acting(replied.acting(commands, /*approved*/ false));
            }
        }
    }

    /// Sends the next command, or records the step when there is none left.
    fn host_acting(&mut self, mut acting: Acting<HostReply>) {
        loop {
            match acting.next() {
                Advance::Send(next, command) => match self.host_refusal(&command) {
                    Some(result) => {
                        acting = *next;
                        acting.returned(result);
                    }
                    None => {
                        let step = next.replied.step.clone();
                        self.round.tally.calls = self.round.tally.calls.saturating_add(1);
                        self.want(Stage::Host(Phase::Acting(*next)), Some(step), Effect::Call { command });
                        return;
                    }
                },
                Advance::Done(acted) => {
                    self.host_acted(acted);
                    return;
                }
            }
        }
    }

    /// Why a command of the HostAgent cannot go out at all.
    fn host_refusal(&self, command: &Command) -> Option<CallResult> {
        if let Some(refusal) = unknown_tool(command, &self.config.host_tools) {
            return Some(refusal);
        }
        if command.tool != SELECT_WINDOW {
            return None;
        }
        let id = command.arguments.get("id").and_then(Value::as_str).unwrap_or_default();
        let known = id.parse().ok().and_then(|id| self.targets.window(id)).is_some();
        let targets = || {
            let lines: Vec<String> = self
                .targets
                .targets()
                .iter()
                .map(|target| format!("{} ({})", target.id, target.name))
                .collect();
            lines.join(", ")
        };
        (!known)
            .then(|| CallResult::failure(None, format!("`{id}` is no target; the targets are {}", targets())))
    }

    fn host_acted(&mut self, acted: Acted<HostReply>) {
        let reply = &acted.replied.reply;
        let (thought, plan, word) = (reply.thought.clone(), reply.plan.clone(), reply.status.to_string());
        let mut did: Vec<String> = acted.actions.iter().map(|info| info.command.to_line()).collect();
        did.extend(reply.subtask.clone());
        let recorded = acted.record(thought, plan, word, &mut self.host.memory, &mut self.blackboard);
        let approved = recorded.approved;
        let failed = recorded.failure().is_some();
        let repeats = self.host.stall.note(targets_text(&self.targets), did);
        let goes_on = failed || matches!(recorded.reply.status, HostStatus::Continue | HostStatus::Assign);
        let stalls = goes_on && repeats >= self.config.limits.repeats_max;
        self.host.notice = nudge(repeats).unwrap_or_default();
        let trigger = match () {
            () if approved => HostTrigger::Approved,
            () if stalls => HostTrigger::Stalled,
            () if failed => HostTrigger::ActionFailed,
            () => HostTrigger::Said(recorded.reply.status),
        };
        self.host.status = next_host(self.host.status, trigger);
        match self.host.status {
            HostStatus::Continue => self.begin_host_step(),
            HostStatus::Assign => self.host_assigns(recorded),
            HostStatus::Finish => {
                let reply = recorded.reply;
                let result = reply.result.filter(|text| !text.is_empty()).unwrap_or(reply.comment);
                self.finish(OutcomeKind::Finished, result);
            }
            HostStatus::Fail if stalls => self.finish(OutcomeKind::Failed, stalled(repeats)),
            HostStatus::Fail => {
                let reply = recorded.reply;
                self.finish(OutcomeKind::Failed, reply.result.unwrap_or(reply.thought));
            }
            HostStatus::Pending => {
                let questions = recorded.reply.questions;
                self.want(
                    Stage::Host(Phase::Questioning(questions.clone())),
                    None,
                    Effect::AskUser { questions },
                );
            }
            HostStatus::Confirm | HostStatus::Error => {
                self.break_off("the HostAgent's machine is in a state that no recorded step leads to");
            }
        }
    }

    /// The window that a step selected or opened gets the sub-task.
    fn host_assigns(&mut self, recorded: Recorded<HostReply>) {
        let window: Option<WindowInfo> =
            recorded.actions.iter().rev().find_map(|info| info.result.window.clone());
        let reply = recorded.reply;
        if let Some(agent) = reply.target.as_deref().and_then(|id| self.agent_target(id)) {
            self.assign_to_agent(agent, reply.subtask.unwrap_or_default(), reply.message);
            return;
        }
        match window {
            Some(window) => {
                self.targets.add_window(window.clone());
                self.assign(Owner::Window(window), reply.subtask.unwrap_or_default(), reply.message);
            }
            None => {
                self.host.status = next_host(self.host.status, HostTrigger::ActionFailed);
                self.begin_host_step();
            }
        }
    }

    fn host_not_approved(&mut self, replied: Replied<HostReply>, instruction: Option<String>) {
        let acted = replied.not_acted();
        let reply = &acted.replied.reply;
        let (thought, plan) = (reply.thought.clone(), reply.plan.clone());
        let what = approval_line(&self.host_commands(reply));
        acted.record(thought, plan, "REJECTED".to_owned(), &mut self.host.memory, &mut self.blackboard);
        match instruction {
            Some(instruction) => {
                self.blackboard.add_answer(&format!("May I run {what}?"), &format!("No. {instruction}"));
                self.host_moves(HostTrigger::Instructed);
            }
            None => {
                self.host.status = next_host(self.host.status, HostTrigger::Rejected);
                self.finish(OutcomeKind::Rejected, format!("{what} was not approved"));
            }
        }
    }

    fn host_moves(&mut self, trigger: HostTrigger) {
        self.host.status = next_host(self.host.status, trigger);
        if self.host.status == HostStatus::Fail {
            self.finish(OutcomeKind::Failed, "a question that must be answered was not");
        } else {
            self.begin_host_step();
        }
    }

    pub(super) fn note_answers(&mut self, questions: &[Question], answers: &[String]) {
        for (index, question) in questions.iter().enumerate() {
            let answer = answers.get(index).map(|answer| answer.trim()).filter(|answer| !answer.is_empty());
            self.blackboard.add_answer(&question.text, answer.unwrap_or("no answer"));
        }
    }

    /// Notes that nobody answered; false when the work cannot go on without. A default answer stands in for one that
    /// did not come in time.
    pub(super) fn note_no_answer(&mut self, questions: &[Question], why: NoAnswer) -> bool {
        for question in questions {
            let note = match (why, &question.default) {
                (NoAnswer::NoChannel, None) => DECIDE_YOURSELF.to_owned(),
                (NoAnswer::NoChannel, Some(default)) => {
                    format!("{DECIDE_YOURSELF}; you named “{default}” as the default")
                }
                (NoAnswer::TimedOut, None) => "no answer came in time".to_owned(),
                (NoAnswer::TimedOut, Some(default)) => {
                    format!("{default} (the default, because no answer came in time)")
                }
            };
            self.blackboard.add_answer(&question.text, &note);
        }
        match why {
            NoAnswer::NoChannel => true,
            NoAnswer::TimedOut => {
                !questions.iter().any(|question| question.required && question.default.is_none())
            }
        }
    }

    /// The commands of a reply: its action, then the selection of its target where that is a window.
    fn host_commands(&self, reply: &HostReply) -> Vec<Command> {
        let mut commands: Vec<Command> = Vec::new();
        let mut launches = false;
        if let Some(action) = &reply.action {
            launches = action.function == LAUNCH;
            commands.push(Command {
                tool: action.function.clone(),
                arguments: action.arguments.clone(),
                window: None,
                agent: None,
            });
        }
        let selects = matches!(reply.status, HostStatus::Assign | HostStatus::Continue | HostStatus::Confirm);
        let target =
            reply.target.as_ref().filter(|id| selects && !launches && self.agent_target(id).is_none());
        if let Some(target) = target {
            let mut arguments = Map::new();
            arguments.insert("id".to_owned(), Value::String(target.clone()));
            commands.push(Command { tool: SELECT_WINDOW.to_owned(), arguments, window: None, agent: None });
        }
        commands
    }
}
