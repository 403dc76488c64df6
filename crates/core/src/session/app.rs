//! The steps of agents that work on sub-tasks: look, act, say how the sub-task stands.
//!
//! An AppAgent and an agent of another kind step alike and by one table; in what they differ stands in
//! [`super::agents`].

use serde::{Deserialize, Serialize};

use super::{
    agents::{Owner, commands_of, seen_text},
    commands::{approval_line, unknown_tool},
    effect::{Approval, AskedBy, Effect, StepRef},
    event::Event,
    machine::{Phase, Session, Stage, messages, misfit},
    phases::{Acted, Acting, Advance, Observed, Recorded, Replied, StepStart},
    round::{SubtaskRecord, SubtaskStatus},
    stall::{Stall, nudge, stalled},
};
use crate::{
    agent::Worker,
    blackboard::SavedPicture,
    memory::Memory,
    observation::Observation,
    outcome::OutcomeKind,
    prompt::result_text,
    reply::AppReply,
    states::{AppStatus, AppTrigger, HostTrigger, next_app, next_host},
};

/// An agent that works on sub-tasks. Cached by its owner: it keeps its memory from one sub-task to the next. An
/// AppAgent is forgotten when its window closes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AppAgent {
    pub(super) owner: Owner,
    pub(super) status: AppStatus,
    /// The last word that it said on the present sub-task, which stands for its status.
    pub(super) word: Option<String>,
    pub(super) memory: Memory,
    pub(super) subtask: String,
    pub(super) message: Vec<String>,
    /// The first step of the present sub-task.
    pub(super) first_step: u32,
    /// How often in a row it looked again without acting.
    screenshots: u32,
    stall: Stall,
    /// What it must know at its next step.
    pub(super) notice: String,
}

impl Session {
    /// Hands a sub-task to an agent that steps here.
    pub(super) fn assign(&mut self, owner: Owner, subtask: String, message: Vec<String>) {
        let first_step = self.steps.saturating_add(1);
        let worker = owner.worker();
        let known = self.apps.iter().position(|app| app.owner.is_same(&owner));
        let memory = known.map(|index| self.apps.remove(index).memory).unwrap_or_default();
        self.apps.push(AppAgent {
            owner,
            status: AppStatus::Continue,
            word: None,
            memory,
            subtask,
            message,
            first_step,
            screenshots: 0,
            stall: Stall::default(),
            notice: String::new(),
        });
        self.begin_app_step(worker);
    }

    pub(super) fn app(&mut self, worker: Worker) -> Option<&mut AppAgent> {
        self.apps.iter_mut().find(|app| app.owner.worker() == worker)
    }

    fn begin_app_step(&mut self, worker: Worker) {
        if self.subtask_steps_exhausted(worker) {
            return;
        }
        let Some(number) = self.next_step() else { return };
        let Some(app) = self.app(worker) else {
            self.break_off(format!("agent {worker} is gone"));
            return;
        };
        let step = StepRef { number, agent: app.owner.name(), subtask: app.subtask.clone() };
        self.look_as(worker, StepStart { step, looks_failed: 0 });
    }

    fn look_as(&mut self, worker: Worker, start: StepStart) {
        let step = start.step.clone();
        let look = self.look_of(worker);
        self.look(Stage::App(worker, Phase::Observing(start)), step, look);
    }

    pub(super) fn app_event(&mut self, worker: Worker, phase: Phase<AppReply>, event: Event) {
        match (phase, event) {
            (Phase::Observing(start), Event::Observed { observation }) => {
                self.app_observed(worker, start, observation);
            }
            (Phase::Observing(mut start), Event::ObserveFailed { failure }) => {
                start.looks_failed = start.looks_failed.saturating_add(1);
                if failure.desktop_gone {
                    self.app_broke(worker, format!("the desktop could not be seen: {failure}"));
                } else if failure.window_gone {
                    self.app_moves(worker, AppTrigger::WindowGone, &failure.message);
                } else if start.looks_failed >= self.config.limits.looks_failed_max {
                    // A device that cannot be seen is no reason to end what others can still do.
                    if let Worker::Agent(_) = worker {
                        self.app_moves(worker, AppTrigger::WindowGone, &failure.message);
                        return;
                    }
                    self.app_broke(worker, format!("{worker} could not be seen: {failure}"));
                } else {
                    self.look_as(worker, start);
                }
            }
            (Phase::Asking(observed), Event::Replied { reply }) => {
                self.count_reply(&reply);
                match self.read_reply(worker, &reply.text) {
                    Ok(decision) => self.app_decided(worker, observed, decision),
                    Err(error) => self.repair(observed, &reply.text, &error.to_string(), Some(worker)),
                }
            }
            (Phase::Asking(_), Event::ModelFailed { failure }) => {
                self.count_model_failure(&failure);
                self.app_broke(worker, format!("the model gave no reply: {failure}"));
            }
            (Phase::Acting(mut acting), Event::Returned { result }) => {
                acting.returned(result);
                self.app_acting(worker, acting);
            }
            (Phase::Parked(replied), Event::Approved { scope: _ }) => {
                let commands = commands_of(&replied.reply, worker);
                self.app_acting(worker, replied.acting(commands, /*approved*/ true));
            }
            (Phase::Parked(replied), Event::Rejected { instruction }) => {
                self.app_not_approved(worker, replied, instruction);
            }
            (Phase::Parked(replied), Event::Unanswered { .. }) => {
                self.app_not_approved(worker, replied, None);
            }
            (Phase::Questioning(questions), Event::Answered { answers }) => {
                self.note_answers(&questions, &answers);
                self.app_moves(worker, AppTrigger::Answered, "");
            }
            (Phase::Questioning(questions), Event::Unanswered { why }) => {
                if self.note_no_answer(&questions, why) {
                    self.app_moves(worker, AppTrigger::Answered, "");
                } else {
                    let reason = "a question that must be answered was not";
                    self.app_moves(worker, AppTrigger::Unanswered, reason);
                }
            }
            (phase, event) => self.break_off(misfit(&phase, &event)),
        }
    }

    fn app_observed(&mut self, worker: Worker, start: StepStart, observation: Observation) {
        let picture = match (&observation, worker) {
            (Observation::Window(view), Worker::Window(_)) => view.picture.clone(),
            (Observation::Agent(view), Worker::Agent(_)) => view.picture.clone(),
            (
                Observation::Desktop(_)
                | Observation::Window(_)
                | Observation::WindowChanges(_)
                | Observation::Agent(_),
                _,
            ) => {
                self.break_off(format!("agent {worker} was shown what another one asked for"));
                return;
            }
        };
        match self.prompt_of(worker, &observation) {
            Ok((system, user)) => {
                let messages = messages(system, user, picture.as_ref());
                self.ask(start.observed(observation, messages), Some(worker));
            }
            Err(error) => self.break_off(error.to_string()),
        }
        if let Some(app) = self.app(worker) {
            app.notice.clear();
        }
    }

    fn app_decided(&mut self, worker: Worker, observed: Observed, reply: AppReply) {
        let (picture, application) = self.picture_of(worker, &observed.observation);
        if let (Some(reason), Some(picture)) = (reply.save_picture.clone(), picture) {
            self.blackboard.add_picture(SavedPicture { picture, application, reason });
        }
        let step = observed.step.clone();
        let status = reply.status;
        let replied = observed.replied(reply);
        match status {
            AppStatus::Confirm => {
                self.set_app_status(worker, AppTrigger::Said(AppStatus::Confirm));
                let approval = Approval {
                    commands: commands_of(&replied.reply, worker),
                    reason: replied.reply.thought.clone(),
                    asked_by: AskedBy::Model,
                };
                self.want(
                    Stage::App(worker, Phase::Parked(replied)),
                    Some(step),
                    Effect::AwaitApproval { approval },
                );
            }
            AppStatus::Pending | AppStatus::Fail | AppStatus::Error | AppStatus::Screenshot => {
                self.app_acting(worker, replied.acting(Vec::new(), /*approved*/ false));
            }
            AppStatus::Continue | AppStatus::Finish => {
                let commands = commands_of(&replied.reply, worker);
                self.app_acting(worker, replied.acting(commands, /*approved*/ false));
            }
        }
    }

    fn app_acting(&mut self, worker: Worker, mut acting: Acting<AppReply>) {
        loop {
            match acting.next() {
                Advance::Send(next, command) => match unknown_tool(&command, self.tools_of(worker)) {
                    Some(result) => {
                        acting = *next;
                        acting.returned(result);
                    }
                    None => {
                        let step = next.replied.step.clone();
                        self.round.tally.calls = self.round.tally.calls.saturating_add(1);
                        self.want(
                            Stage::App(worker, Phase::Acting(*next)),
                            Some(step),
                            Effect::Call { command },
                        );
                        return;
                    }
                },
                Advance::Done(acted) => {
                    self.app_acted(worker, acted);
                    return;
                }
            }
        }
    }

    fn app_record(
        &mut self,
        worker: Worker,
        acted: Acted<AppReply>,
        word: String,
    ) -> Option<Recorded<AppReply>> {
        let reply = &acted.replied.reply;
        let (thought, plan) = (reply.thought.clone(), reply.plan.clone());
        let blackboard = &mut self.blackboard;
        let app = self.apps.iter_mut().find(|app| app.owner.worker() == worker)?;
        Some(acted.record(thought, plan, word, &mut app.memory, blackboard))
    }

    fn app_acted(&mut self, worker: Worker, acted: Acted<AppReply>) {
        let word = acted.replied.reply.word.clone();
        let seen = seen_text(&acted.replied.observation);
        let did = acted.actions.iter().map(|info| info.command.to_line()).collect();
        let Some(recorded) = self.app_record(worker, acted, word) else {
            self.break_off(format!("agent {worker} is gone"));
            return;
        };
        let failure = recorded.failure().is_some();
        let said = recorded.reply.status;
        self.note_word(worker, &recorded.reply.word);
        if let Some(app) = self.app(worker) {
            app.screenshots =
                if said == AppStatus::Screenshot { app.screenshots.saturating_add(1) } else { 0 };
        }
        let looks = self.app(worker).map_or(0, |app| app.screenshots);
        let exhausted = looks > self.config.limits.screenshots_max;
        let repeats = self.app(worker).map_or(0, |app| app.stall.note(seen, did));
        let goes_on = failure || said == AppStatus::Continue;
        let stalls = goes_on && repeats >= self.config.limits.repeats_max;
        let trigger = match () {
            () if recorded.approved => AppTrigger::Approved,
            () if stalls => AppTrigger::Stalled,
            () if failure => AppTrigger::ActionFailed,
            () if exhausted => AppTrigger::LooksExhausted,
            () => AppTrigger::Said(said),
        };
        if exhausted && let Some(app) = self.app(worker) {
            app.notice = format!("You looked {looks} times without acting. Act now, or say FAIL.");
        }
        if let (Some(nudge), Some(app)) = (nudge(repeats), self.app(worker)) {
            app.notice = nudge;
        }
        let status = self.set_app_status(worker, trigger);
        match status {
            AppStatus::Continue | AppStatus::Screenshot => self.begin_app_step(worker),
            AppStatus::Finish => {
                let result = subtask_result(&recorded);
                self.archive_app(worker, SubtaskStatus::Finished, result);
                self.round.failures_in_row = 0;
                self.back_to_host();
            }
            AppStatus::Fail if stalls => {
                self.app_failed(worker, SubtaskStatus::Failed, &stalled(repeats));
            }
            AppStatus::Fail => {
                let reply = recorded.reply;
                self.app_failed(
                    worker,
                    SubtaskStatus::Failed,
                    reply.result.as_ref().unwrap_or(&reply.thought),
                );
            }
            AppStatus::Pending => {
                let questions = recorded.reply.questions;
                self.want(
                    Stage::App(worker, Phase::Questioning(questions.clone())),
                    None,
                    Effect::AskUser { questions },
                );
            }
            AppStatus::Confirm | AppStatus::Error => {
                self.break_off("an AppAgent's machine is in a state that no recorded step leads to");
            }
        }
    }

    fn app_not_approved(&mut self, worker: Worker, replied: Replied<AppReply>, instruction: Option<String>) {
        let acted = replied.not_acted();
        let what = approval_line(&commands_of(&acted.replied.reply, worker));
        if self.app_record(worker, acted, "REJECTED".to_owned()).is_none() {
            self.break_off(format!("agent {worker} is gone"));
            return;
        }
        match instruction {
            Some(instruction) => {
                self.blackboard.add_answer(&format!("May I run {what}?"), &format!("No. {instruction}"));
                self.app_moves(worker, AppTrigger::Instructed, "");
            }
            None => {
                self.set_app_status(worker, AppTrigger::Rejected);
                self.app_failed(worker, SubtaskStatus::Rejected, &format!("{what} was not approved"));
            }
        }
    }

    pub(super) fn set_app_status(&mut self, worker: Worker, trigger: AppTrigger) -> AppStatus {
        self.app(worker).map_or(AppStatus::Error, |app| {
            app.status = next_app(app.status, trigger);
            app.status
        })
    }

    /// Moves an AppAgent between steps: on to its next step, or to the end of its sub-task.
    pub(super) fn app_moves(&mut self, worker: Worker, trigger: AppTrigger, reason: &str) {
        if self.set_app_status(worker, trigger) == AppStatus::Fail {
            self.app_failed(worker, SubtaskStatus::Failed, reason);
            if trigger == AppTrigger::WindowGone {
                self.apps.retain(|app| app.owner.worker() != worker);
            }
        } else {
            self.begin_app_step(worker);
        }
    }

    fn app_broke(&mut self, worker: Worker, reason: String) {
        self.set_app_status(worker, AppTrigger::Broke);
        self.archive_app(worker, SubtaskStatus::Error, reason.clone());
        self.break_off(reason);
    }

    pub(super) fn app_failed(&mut self, worker: Worker, status: SubtaskStatus, reason: &str) {
        self.archive_app(worker, status, reason.to_owned());
        self.subtask_failed(reason);
    }

    /// A sub-task that was archived did not succeed: the HostAgent goes on, unless too many did not.
    pub(super) fn subtask_failed(&mut self, reason: &str) {
        self.round.failures_in_row = self.round.failures_in_row.saturating_add(1);
        if self.round.failures_in_row >= self.config.limits.subtask_failures_max {
            self.host.status = next_host(self.host.status, HostTrigger::SubtasksExhausted);
            let count = self.round.failures_in_row;
            self.finish(
                OutcomeKind::Failed,
                format!("{count} sub-tasks in a row failed; the last: {reason}"),
            );
        } else {
            self.back_to_host();
        }
    }

    /// Keeps a sub-task that ended.
    pub(super) fn archive(&mut self, record: SubtaskRecord) {
        self.round.subtasks.push(record);
    }

    fn archive_app(&mut self, worker: Worker, status: SubtaskStatus, result: String) {
        if let Some(app) = self.apps.iter().find(|app| app.owner.worker() == worker) {
            let (subtask, agent) = (app.subtask.clone(), app.owner.name());
            self.archive(SubtaskRecord { subtask, agent, status, result });
        }
    }

    pub(super) fn back_to_host(&mut self) {
        self.host.status = next_host(self.host.status, HostTrigger::SubtaskEnded);
        self.begin_host_step();
    }
}

/// What came of a sub-task: what the agent says, and what its last actions returned.
fn subtask_result(recorded: &Recorded<AppReply>) -> String {
    let mut parts: Vec<String> = recorded.reply.result.clone().into_iter().collect();
    parts.extend(recorded.actions.iter().map(result_text));
    if parts.is_empty() {
        parts.push(recorded.reply.thought.clone());
    }
    parts.join("; ")
}
