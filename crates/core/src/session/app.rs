//! An AppAgent's steps: look at its window, act in it, say how the sub-task stands.

use serde::{Deserialize, Serialize};

use super::{
    commands::{approval_line, unknown_tool},
    effect::{Approval, AskedBy, Effect, StepRef},
    event::Event,
    machine::{Phase, Session, Stage, messages, misfit},
    phases::{Acted, Acting, Advance, Observed, Recorded, Replied, StepStart},
    round::{SubtaskRecord, SubtaskStatus},
    stall::{Stall, nudge, stalled},
};
use crate::{
    blackboard::SavedPicture,
    command::Command,
    ids::WindowId,
    memory::Memory,
    observation::{Look, Observation, WindowView},
    outcome::OutcomeKind,
    prompt::{AppInput, PromptError, app_user_text, result_text, surfaces_text, system_message},
    reply::{AppReply, parse_app_reply},
    states::{AppStatus, AppTrigger, HostTrigger, next_app, next_host},
    ui::WindowInfo,
};

/// The agent of one window. Cached by application root and window: it keeps its memory from one sub-task to
/// the next, and is forgotten when the window closes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AppAgent {
    pub(super) window: WindowInfo,
    pub(super) status: AppStatus,
    memory: Memory,
    subtask: String,
    message: Vec<String>,
    /// The first step of the present sub-task.
    first_step: u32,
    /// How often in a row it looked again without acting.
    screenshots: u32,
    stall: Stall,
    /// What it must know at its next step.
    pub(super) notice: String,
}

impl AppAgent {
    pub(super) fn name(&self) -> String {
        format!("AppAgent/{}", self.window.app.root)
    }
}

impl Session {
    /// Hands a sub-task to the agent of a window.
    pub(super) fn assign(&mut self, window: WindowInfo, subtask: String, message: Vec<String>) {
        let first_step = self.steps.saturating_add(1);
        let id = window.id;
        match self.apps.iter_mut().find(|app| app.window.id == id && app.window.app.root == window.app.root) {
            Some(app) => {
                app.window = window;
                app.status = AppStatus::Continue;
                app.subtask = subtask;
                app.message = message;
                app.first_step = first_step;
                app.screenshots = 0;
                app.stall = Stall::default();
                app.notice.clear();
            }
            None => self.apps.push(AppAgent {
                window,
                status: AppStatus::Continue,
                memory: Memory::default(),
                subtask,
                message,
                first_step,
                screenshots: 0,
                stall: Stall::default(),
                notice: String::new(),
            }),
        }
        self.begin_app_step(id);
    }

    fn app(&mut self, window: WindowId) -> Option<&mut AppAgent> {
        self.apps.iter_mut().find(|app| app.window.id == window)
    }

    fn begin_app_step(&mut self, window: WindowId) {
        let Some(number) = self.next_step() else { return };
        let Some(app) = self.app(window) else {
            self.break_off(format!("the agent of window {window} is gone"));
            return;
        };
        let step = StepRef { number, agent: app.name(), subtask: app.subtask.clone() };
        self.look_at_window(window, StepStart { step, looks_failed: 0 });
    }

    fn look_at_window(&mut self, window: WindowId, start: StepStart) {
        let step = start.step.clone();
        let look = Look::Window { window, picture: self.config.pictures };
        self.look(Stage::App(window, Phase::Observing(start)), step, look);
    }

    pub(super) fn app_event(&mut self, window: WindowId, phase: Phase<AppReply>, event: Event) {
        match (phase, event) {
            (Phase::Observing(start), Event::Observed { observation }) => {
                self.app_observed(window, start, observation);
            }
            (Phase::Observing(mut start), Event::ObserveFailed { failure }) => {
                start.looks_failed = start.looks_failed.saturating_add(1);
                if failure.desktop_gone {
                    self.app_broke(window, format!("the desktop could not be seen: {failure}"));
                } else if failure.window_gone {
                    self.app_moves(window, AppTrigger::WindowGone, &failure.message);
                } else if start.looks_failed >= self.config.limits.looks_failed_max {
                    self.app_broke(window, format!("the window could not be seen: {failure}"));
                } else {
                    self.look_at_window(window, start);
                }
            }
            (Phase::Asking(observed), Event::Replied { reply }) => {
                self.count_reply(&reply);
                match parse_app_reply(&reply.text) {
                    Ok(decision) => self.app_decided(window, observed, decision),
                    Err(error) => self.repair(observed, &reply.text, &error.to_string(), Some(window)),
                }
            }
            (Phase::Asking(_), Event::ModelFailed { failure }) => {
                self.count_model_failure(&failure);
                self.app_broke(window, format!("the model gave no reply: {failure}"));
            }
            (Phase::Acting(mut acting), Event::Returned { result }) => {
                acting.returned(result);
                self.app_acting(window, acting);
            }
            (Phase::Parked(replied), Event::Approved { scope: _ }) => {
                let commands = app_commands(&replied.reply, window);
                self.app_acting(window, replied.acting(commands, /*approved*/ true));
            }
            (Phase::Parked(replied), Event::Rejected { instruction }) => {
                self.app_not_approved(window, replied, instruction);
            }
            (Phase::Parked(replied), Event::Unanswered { .. }) => {
                self.app_not_approved(window, replied, None);
            }
            (Phase::Questioning(questions), Event::Answered { answers }) => {
                self.note_answers(&questions, &answers);
                self.app_moves(window, AppTrigger::Answered, "");
            }
            (Phase::Questioning(questions), Event::Unanswered { why }) => {
                if self.note_no_answer(&questions, why) {
                    self.app_moves(window, AppTrigger::Answered, "");
                } else {
                    let reason = "a question that must be answered was not";
                    self.app_moves(window, AppTrigger::Unanswered, reason);
                }
            }
            (phase, event) => self.break_off(misfit(&phase, &event)),
        }
    }

    fn app_observed(&mut self, window: WindowId, start: StepStart, observation: Observation) {
        let Observation::Window(view) = &observation else {
            self.break_off("something else was shown where a window was asked for");
            return;
        };
        let picture = view.picture.clone();
        match self.app_prompt(window, view) {
            Ok((system, user)) => {
                let messages = messages(system, user, picture.as_ref());
                self.ask(start.observed(observation, messages), Some(window));
            }
            Err(error) => self.break_off(error.to_string()),
        }
        if let Some(app) = self.app(window) {
            app.notice.clear();
        }
    }

    fn app_prompt(&self, window: WindowId, view: &WindowView) -> Result<(String, String), PromptError> {
        let system = system_message("app_system", &self.prompts.app_system, &self.config.app_tools)?;
        let Some(app) = self.apps.iter().find(|app| app.window.id == window) else {
            return Err(PromptError { name: "app_user", problem: "its agent is gone".to_owned() });
        };
        let input = AppInput {
            agent: &app.name(),
            request: &self.round.request,
            subtask: &app.subtask,
            message: &app.message,
            subtasks: &self.round.subtasks,
            blackboard: &self.blackboard,
            memory: &app.memory,
            first_step: app.first_step,
            notice: &app.notice,
            view,
        };
        Ok((system, app_user_text(&self.prompts, &input)?))
    }

    fn app_decided(&mut self, window: WindowId, observed: Observed, reply: AppReply) {
        if let (Some(reason), Observation::Window(view)) = (&reply.save_picture, &observed.observation) {
            let application = view.surfaces.first().map(|surface| surface.window.app.name.clone());
            if let Some(picture) = view.picture.clone() {
                self.blackboard.add_picture(SavedPicture {
                    picture,
                    application: application.unwrap_or_default(),
                    reason: reason.clone(),
                });
            }
        }
        let step = observed.step.clone();
        let status = reply.status;
        let replied = observed.replied(reply);
        match status {
            AppStatus::Confirm => {
                self.set_app_status(window, AppTrigger::Said(AppStatus::Confirm));
                let approval = Approval {
                    commands: app_commands(&replied.reply, window),
                    reason: replied.reply.thought.clone(),
                    asked_by: AskedBy::Model,
                };
                self.want(
                    Stage::App(window, Phase::Parked(replied)),
                    Some(step),
                    Effect::AwaitApproval { approval },
                );
            }
            AppStatus::Pending | AppStatus::Fail | AppStatus::Error | AppStatus::Screenshot => {
                self.app_acting(window, replied.acting(Vec::new(), /*approved*/ false));
            }
            AppStatus::Continue | AppStatus::Finish => {
                let commands = app_commands(&replied.reply, window);
                self.app_acting(window, replied.acting(commands, /*approved*/ false));
            }
        }
    }

    fn app_acting(&mut self, window: WindowId, mut acting: Acting<AppReply>) {
        loop {
            match acting.next() {
                Advance::Send(next, command) => match unknown_tool(&command, &self.config.app_tools) {
                    Some(result) => {
                        acting = *next;
                        acting.returned(result);
                    }
                    None => {
                        let step = next.replied.step.clone();
                        self.round.tally.calls = self.round.tally.calls.saturating_add(1);
                        self.want(
                            Stage::App(window, Phase::Acting(*next)),
                            Some(step),
                            Effect::Call { command },
                        );
                        return;
                    }
                },
                Advance::Done(acted) => {
                    self.app_acted(window, acted);
                    return;
                }
            }
        }
    }

    fn app_record(
        &mut self,
        window: WindowId,
        acted: Acted<AppReply>,
        word: String,
    ) -> Option<Recorded<AppReply>> {
        let reply = &acted.replied.reply;
        let (thought, plan) = (reply.thought.clone(), reply.plan.clone());
        let blackboard = &mut self.blackboard;
        let app = self.apps.iter_mut().find(|app| app.window.id == window)?;
        Some(acted.record(thought, plan, word, &mut app.memory, blackboard))
    }

    fn app_acted(&mut self, window: WindowId, acted: Acted<AppReply>) {
        let word = acted.replied.reply.status.to_string();
        let seen = match &acted.replied.observation {
            Observation::Window(view) => surfaces_text(view),
            Observation::Desktop(_) | Observation::WindowChanges(_) => String::new(),
        };
        let did = acted.actions.iter().map(|info| info.command.to_line()).collect();
        let Some(recorded) = self.app_record(window, acted, word) else {
            self.break_off(format!("the agent of window {window} is gone"));
            return;
        };
        let failure = recorded.failure().is_some();
        let said = recorded.reply.status;
        if let Some(app) = self.app(window) {
            app.screenshots =
                if said == AppStatus::Screenshot { app.screenshots.saturating_add(1) } else { 0 };
        }
        let looks = self.app(window).map_or(0, |app| app.screenshots);
        let exhausted = looks > self.config.limits.screenshots_max;
        let repeats = self.app(window).map_or(0, |app| app.stall.note(seen, did));
        let goes_on = failure || said == AppStatus::Continue;
        let stalls = goes_on && repeats >= self.config.limits.repeats_max;
        let trigger = match () {
            () if recorded.approved => AppTrigger::Approved,
            () if stalls => AppTrigger::Stalled,
            () if failure => AppTrigger::ActionFailed,
            () if exhausted => AppTrigger::LooksExhausted,
            () => AppTrigger::Said(said),
        };
        if exhausted && let Some(app) = self.app(window) {
            app.notice = format!("You looked {looks} times without acting. Act now, or say FAIL.");
        }
        if let (Some(nudge), Some(app)) = (nudge(repeats), self.app(window)) {
            app.notice = nudge;
        }
        let status = self.set_app_status(window, trigger);
        match status {
            AppStatus::Continue | AppStatus::Screenshot => self.begin_app_step(window),
            AppStatus::Finish => {
                let result = subtask_result(&recorded);
                self.archive_app(window, SubtaskStatus::Finished, result);
                self.round.failures_in_row = 0;
                self.back_to_host();
            }
            AppStatus::Fail if stalls => {
                self.app_failed(window, SubtaskStatus::Failed, &stalled(repeats));
            }
            AppStatus::Fail => {
                let reply = recorded.reply;
                self.app_failed(
                    window,
                    SubtaskStatus::Failed,
                    reply.result.as_ref().unwrap_or(&reply.thought),
                );
            }
            AppStatus::Pending => {
                let questions = recorded.reply.questions;
                self.want(
                    Stage::App(window, Phase::Questioning(questions.clone())),
                    None,
                    Effect::AskUser { questions },
                );
            }
            AppStatus::Confirm | AppStatus::Error => {
                self.break_off("an AppAgent's machine is in a state that no recorded step leads to");
            }
        }
    }

    fn app_not_approved(
        &mut self,
        window: WindowId,
        replied: Replied<AppReply>,
        instruction: Option<String>,
    ) {
        let acted = replied.not_acted();
        let what = approval_line(&app_commands(&acted.replied.reply, window));
        if self.app_record(window, acted, "REJECTED".to_owned()).is_none() {
            self.break_off(format!("the agent of window {window} is gone"));
            return;
        }
        match instruction {
            Some(instruction) => {
                self.blackboard.add_answer(&format!("May I run {what}?"), &format!("No. {instruction}"));
                self.app_moves(window, AppTrigger::Instructed, "");
            }
            None => {
                self.set_app_status(window, AppTrigger::Rejected);
                self.app_failed(window, SubtaskStatus::Rejected, &format!("{what} was not approved"));
            }
        }
    }

    fn set_app_status(&mut self, window: WindowId, trigger: AppTrigger) -> AppStatus {
        self.app(window).map_or(AppStatus::Error, |app| {
            app.status = next_app(app.status, trigger);
            app.status
        })
    }

    /// Moves an AppAgent between steps: on to its next step, or to the end of its sub-task.
    pub(super) fn app_moves(&mut self, window: WindowId, trigger: AppTrigger, reason: &str) {
        if self.set_app_status(window, trigger) == AppStatus::Fail {
            self.app_failed(window, SubtaskStatus::Failed, reason);
            if trigger == AppTrigger::WindowGone {
                self.apps.retain(|app| app.window.id != window);
            }
        } else {
            self.begin_app_step(window);
        }
    }

    fn app_broke(&mut self, window: WindowId, reason: String) {
        self.set_app_status(window, AppTrigger::Broke);
        self.archive_app(window, SubtaskStatus::Error, reason.clone());
        self.break_off(reason);
    }

    fn app_failed(&mut self, window: WindowId, status: SubtaskStatus, reason: &str) {
        self.archive_app(window, status, reason.to_owned());
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

    fn archive_app(&mut self, window: WindowId, status: SubtaskStatus, result: String) {
        if let Some(app) = self.apps.iter().find(|app| app.window.id == window) {
            let (subtask, agent) = (app.subtask.clone(), app.name());
            self.archive(SubtaskRecord { subtask, agent, status, result });
        }
    }

    pub(super) fn back_to_host(&mut self) {
        self.host.status = next_host(self.host.status, HostTrigger::SubtaskEnded);
        self.begin_host_step();
    }
}

fn app_commands(reply: &AppReply, window: WindowId) -> Vec<Command> {
    reply
        .actions
        .iter()
        .map(|action| Command {
            tool: action.function.clone(),
            arguments: action.arguments.clone(),
            window: Some(window),
        })
        .collect()
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
