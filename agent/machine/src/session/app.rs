//! The steps of agents that work on sub-tasks.
//!
//! AppAgents and agents of other kinds share these steps and one transition table; [`super::agents`] has the differences.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    agent_state::{AppAgent, Owner},
    agents::commands_of,
    commands::{tells_marks, unknown_tool},
    config::RoundLimits,
    effect::{AskedBy, StepRef},
    gate::Proposal,
    hands::add_line,
    phases::{ActedStep, ObservedStep, OneTimePromptParts, RecordedStep},
    recording::{StepRecorder, StepStatement},
    round::{SubtaskRecord, SubtaskStatus},
    shown::PromptViewHistory,
    stall::{Did, ObservationFingerprint, Stall, is_stalled, repetition_notice, stalled},
    state::{Session, SessionStage, StepPhase},
    step::{NotApproved, StepActor, StepDecider, StepPrompt, Steps},
    subtask::subtask_result,
    verify::{Doubt, doubt_of},
};
use crate::{
    agent::SubtaskWorker,
    blackboard::SavedPicture,
    command::{CallResult, ToolCommand, ToolSpec},
    model::ReplyKind,
    observation::{Observation, ObservationTarget, ObserveFailure},
    prompt::PromptError,
    reference::refusal,
    reply::{AppReply, KeptPicture, ReplyError, heal_reply_schema, parse_small_app_reply},
    retrieval::{Hit, Lookup},
    small::{SmallModelDecision, SmallModelOffer, small_app_schema},
    states::{AppStatus, AppTrigger},
};
use deskhand_ui::ids::ElementId;

/// The most controls that an AppAgent may ask to annotate.
const MARKS_MAX: usize = 100;
/// The most cached agents; the least recently used is evicted.
const APPS_MAX: usize = 32;

/// An agent that works on sub-tasks, as an agent kind ([`super::step::AgentKind`]).
#[derive(Debug, Clone, Copy)]
pub(super) struct App(pub(super) SubtaskWorker);

impl Steps for App {
    type Reply = AppReply;

    fn stage(self, phase: StepPhase<AppReply>) -> SessionStage {
        SessionStage::App(self.0, phase)
    }

    fn step(self, session: &Session, number: u32) -> Option<StepRef> {
        let app = session.app(self.0)?;
        Some(session.step_ref(number, app.owner.agent(), app.subtask.clone(), app.memory.steps()))
    }

    fn exhausted(self, session: &mut Session) -> bool {
        session.subtask_steps_exhausted(self.0)
    }

    fn look(self, session: &Session) -> ObservationTarget {
        session.look_of(self.0)
    }

    fn lost(self, session: &mut Session, reason: &str) {
        if session.closed_as_meant(self.0) {
            session.app_moves(self.0, AppTrigger::WindowClosed);
            session.archive_app(self.0, SubtaskStatus::Finished, reason.to_owned());
            session.apps.retain(|app| app.owner.worker() != self.0);
            session.subtask_finished(Some(Doubt::WindowClosed), reason.to_owned());
            return;
        }
        session.app_moves(self.0, AppTrigger::WindowGone);
        session.app_failed(self.0, SubtaskStatus::Failed, reason);
        session.apps.retain(|app| app.owner.worker() != self.0);
    }

    fn observation_failed(self, session: &mut Session, failure: &ObserveFailure) {
        match self.0 {
            SubtaskWorker::Window(window) => {
                self.broke(session, format!("failed to observe {window}: {failure}"));
            }
            // A failing device does not end the work of other agents.
            SubtaskWorker::Agent(_) => self.lost(session, &failure.message),
        }
    }

    fn broke(self, session: &mut Session, reason: String) {
        session.app_moves(self.0, AppTrigger::Broke);
        session.archive_app(self.0, SubtaskStatus::Error, reason.clone());
        session.break_off(reason);
    }
}

impl StepDecider for App {
    fn lookup(self, session: &Session) -> Option<Lookup> {
        let is_asked = session.round.performing.is_none();
        let app = session.app(self.0).filter(|app| is_asked && app.hits.is_none())?;
        let application = match &app.owner {
            Owner::Window(window) => Some(&window.app),
            Owner::Agent(..) => None,
        };
        session.config.retrieval.lookup(&app.subtask, &app.owner.agent(), application)
    }

    fn found(self, session: &mut Session, hits: Vec<Hit>) {
        if let Some(app) = session.app_mut(self.0) {
            app.hits = Some(hits);
        }
    }

    fn decide_without_model(self, session: &mut Session, observation: &Observation) -> Option<AppReply> {
        session.workflow_acts(self.0, observation)
    }

    fn offer(self, session: &Session, observation: &Observation) -> Option<SmallModelOffer> {
        if session.is_healing(self.0) {
            return None;
        }
        session.app_offer(self.0, observation)
    }

    fn asking(
        self,
        session: &mut Session,
        observation: &Observation,
        offer: Option<&SmallModelOffer>,
    ) -> Result<StepPrompt, PromptError> {
        if let Some(asking) = session.heal_asking(self.0, observation) {
            return asking;
        }
        if let Some(offer) = offer {
            let asking = session.small_app_asking(self.0, observation, offer)?;
            if let Some(app) = session.app_mut(self.0) {
                app.notice.clear();
            }
            return Ok(asking);
        }
        let step = session.steps;
        let sight = session.sight_of(self.0, observation, step);
        let pictures = session.pictures_of(self.0);
        let zoomed = session.zoomed_of(self.0);
        let shown: Vec<_> = zoomed.shown.iter().map(|one| one.picture.clone()).collect();
        let (system, user) = session.prompt_of(self.0, observation, (&sight, &pictures, zoomed))?;
        if let Some(app) = session.app_mut(self.0) {
            app.notice.clear();
            app.pictures_to = step;
        }
        let kept = pictures.into_iter().map(|saved| saved.picture).chain(shown).collect();
        Ok(StepPrompt { system, examples: Vec::new(), user, kept, picture: sight.picture })
    }

    fn once(self, session: &Session) -> OneTimePromptParts {
        let app = session.app(self.0);
        app.map(|app| OneTimePromptParts { notice: app.notice.clone(), pictures_to: app.pictures_to })
            .unwrap_or_default()
    }

    fn not_asked(self, session: &mut Session, once: OneTimePromptParts) {
        if let Some(app) = session.app_mut(self.0) {
            app.notice = once.notice;
            app.pictures_to = once.pictures_to;
        }
    }

    fn schema(self, session: &Session, offer: Option<&SmallModelOffer>) -> (ReplyKind, Value) {
        match offer {
            _ if session.is_healing(self.0) => (ReplyKind::Heal, heal_reply_schema()),
            Some(offer) => (ReplyKind::SmallApp, small_app_schema(offer)),
            None => session.reply_schema_of(self.0),
        }
    }

    fn parse(
        self,
        session: &Session,
        observed: &ObservedStep,
        text: &str,
    ) -> Result<SmallModelDecision<AppReply>, ReplyError> {
        let reply = match &observed.offer {
            _ if session.is_healing(self.0) => session.healed(observed, text),
            Some(offer) => parse_small_app_reply(text)?.decided(offer),
            None => session.read_reply(self.0, &observed.observation, text),
        };
        reply.map(SmallModelDecision::Finally)
    }

    fn questions_closed(self, session: &mut Session, goes_on: bool) {
        let trigger = if goes_on { AppTrigger::Answered } else { AppTrigger::Unanswered };
        if session.app_moves(self.0, trigger) == AppStatus::Fail {
            session.app_failed(self.0, SubtaskStatus::Failed, "a required question was not answered");
        } else {
            session.begin_step(self);
        }
    }
}

impl StepActor for App {
    fn tools(self, session: &Session) -> Cow<'_, [ToolSpec]> {
        session.tools_of(self.0)
    }

    fn proposal(self, _: &Session, reply: &AppReply) -> Proposal {
        Proposal {
            commands: self.commands(reply),
            confirm: reply.status == AppStatus::Confirm,
            reason: reply.thought.clone(),
        }
    }

    fn refusal(self, session: &Session, tools: &[ToolSpec], command: &ToolCommand) -> Option<CallResult> {
        let reference = command.window.and_then(|_| refusal(command));
        let marks = session.app(self.0).map(|app| session.marks_shown_to(app));
        reference
            .or_else(|| unknown_tool(command, tools))
            .or_else(|| session.unfit_workflow(command))
            .or_else(|| marks.and_then(|marks| tells_marks(command, &marks)))
    }

    fn progress(
        self,
        _: &Session,
        observation: &Observation,
        reply: &AppReply,
    ) -> (ObservationFingerprint, Did) {
        (ObservationFingerprint::of(observation), Did { commands: self.commands(reply), subtask: None })
    }

    fn stall(self, session: &Session) -> Option<&Stall> {
        session.app(self.0).map(|app| &app.stall)
    }

    fn waits(self, session: &mut Session, asked_by: &AskedBy) {
        let trigger = match asked_by {
            AskedBy::Model => AppTrigger::Said(AppStatus::Confirm),
            AskedBy::Policy { .. } => AppTrigger::PolicyAsks,
        };
        session.app_moves(self.0, trigger);
    }

    fn withdraws(self, session: &mut Session) {
        session.app_moves(self.0, AppTrigger::Instructed);
        if let Some(app) = session.app_mut(self.0) {
            app.stall = Stall::default();
        }
    }

    fn notified(self, session: &mut Session, notice: &str) {
        if let Some(app) = session.app_mut(self.0) {
            add_line(&mut app.notice, notice);
        }
    }

    fn acted(self, session: &mut Session, acted: ActedStep<AppReply>) {
        session.app_acted(self.0, acted);
    }

    fn not_approved(self, session: &mut Session, acted: ActedStep<AppReply>, what: &str, why: NotApproved) {
        if session.app_record(self.0, acted, "REJECTED".to_owned()).is_none() {
            session.break_off("the agent of the rejected action no longer exists");
            return;
        }
        match session.note_not_approved(what, why) {
            Ok(instruction) => {
                session.app_moves(self.0, AppTrigger::Instructed);
                if session.instructed_instead(&instruction) {
                    session.back_to_host();
                } else {
                    session.begin_step(self);
                }
            }
            Err(reason) => {
                session.app_moves(self.0, AppTrigger::Rejected);
                session.app_failed(self.0, SubtaskStatus::Rejected, &reason);
            }
        }
    }
}

impl App {
    fn commands(self, reply: &AppReply) -> Vec<ToolCommand> {
        match reply.status {
            AppStatus::Pending | AppStatus::Fail | AppStatus::Error => Vec::new(),
            AppStatus::Continue | AppStatus::Screenshot | AppStatus::Finish | AppStatus::Confirm => {
                commands_of(reply, self.0)
            }
        }
    }
}

impl Session {
    /// Assigns a sub-task to an agent with steps.
    pub(super) fn assign(&mut self, owner: Owner, subtask: String, message: Vec<String>) {
        let worker = owner.worker();
        let known = self.apps.iter().position(|app| app.owner.is_same(&owner));
        let mut memory = known.map(|index| self.apps.remove(index).memory).unwrap_or_default();
        memory.begin();
        // Another application's window had the same id: its agent is stale.
        self.apps.retain(|app| app.owner.worker() != worker);
        if self.apps.len() >= APPS_MAX {
            self.apps.remove(0);
        }
        // The last one is the one at work.
        self.apps.push(AppAgent {
            owner,
            status: AppStatus::Continue,
            word: None,
            memory,
            subtask,
            message,
            first_step: self.steps.saturating_add(1),
            screenshots: 0,
            picture_wanted: false,
            marks: None,
            doubt: Some(Doubt::NothingDone),
            stall: Stall::default(),
            shown: PromptViewHistory::default(),
            notice: String::new(),
            hits: None,
            pictures_to: 0,
        });
        self.begin_step(App(worker));
    }

    fn app_record(
        &mut self,
        worker: SubtaskWorker,
        acted: ActedStep<AppReply>,
        word: String,
    ) -> Option<RecordedStep<AppReply>> {
        let said = StepStatement::by_app(&acted.replied.reply, word);
        let app = self.apps.iter_mut().find(|app| app.owner.worker() == worker)?;
        let keeping = StepRecorder {
            memory: &mut app.memory,
            blackboard: &mut self.blackboard,
            keys: &self.config.history_keys,
            wording: self.wording,
            round: self.rounds,
        };
        Some(acted.record(said, keeping))
    }

    /// Keeps the picture of a step if its reply asks for that.
    fn keep_picture(&mut self, worker: SubtaskWorker, acted: &ActedStep<AppReply>) {
        let (picture, application) = self.picture_of(worker, &acted.replied.observation);
        if let (Some(kept), Some(picture)) = (acted.replied.reply.save_picture.clone(), picture) {
            let KeptPicture { reason, audience } = kept;
            let StepRef { number: step, agent, .. } = acted.replied.step.clone();
            let saved = SavedPicture { step, agent, audience, picture, application, reason };
            self.blackboard.add_picture(saved);
        }
    }

    fn app_acted(&mut self, worker: SubtaskWorker, acted: ActedStep<AppReply>) {
        let word = acted.replied.reply.word.clone();
        self.keep_picture(worker, &acted);
        let (seen, did) = App(worker).progress(self, &acted.replied.observation, &acted.replied.reply);
        let limits = self.config.limits.clone();
        let healed = acted.replied.reply.heal.clone().zip(acted.replied.observation.window().cloned());
        let recorded = self.app_record(worker, acted, word);
        if let Some(recorded) = &recorded {
            let healed = healed.as_ref().map(|(reply, view)| (reply, view));
            self.workflow_recorded(healed, &recorded.actions);
        }
        if let (Some(run), Some(recorded)) = (self.begun_workflow(), &recorded) {
            self.app_runs(worker, run, recorded);
            return;
        }
        let doubt = recorded
            .as_ref()
            .filter(|step| !step.actions.is_empty())
            .map(|step| doubt_of(&step.reply.actions, &step.actions, &self.tools_of(worker)));
        let acted = recorded.as_ref().is_some_and(|recorded| !recorded.actions.is_empty());
        let is_stuck = acted && self.workflow_is_stuck();
        let (Some(recorded), Some(app)) = (recorded, self.app_mut(worker)) else {
            self.break_off(format!("agent {worker} is gone"));
            return;
        };
        if let Some(doubt) = doubt {
            app.doubt = doubt;
        }
        let doubt = app.doubt.clone();
        let failure = recorded.failure().is_some() || is_stuck;
        let asks = app.note(&recorded, &limits);
        let repeats = app.stall.note(seen, did);
        if let Some(repetition_notice) = repetition_notice(repeats) {
            app.notice = repetition_notice;
        }
        let exhausted = app.screenshots > limits.screenshots_max;
        let said = recorded.reply.status;
        let goes_on = failure || said == AppStatus::Continue;
        let stalls = goes_on && is_stalled(repeats, &limits);
        let trigger = match () {
            () if recorded.approved => AppTrigger::Approved,
            () if stalls => AppTrigger::Stalled,
            () if failure || asks => AppTrigger::ActionFailed,
            () if exhausted => AppTrigger::LooksExhausted,
            () => AppTrigger::Said(said),
        };
        match self.app_moves(worker, trigger) {
            AppStatus::Continue | AppStatus::Screenshot => self.begin_step(App(worker)),
            AppStatus::Finish => {
                let result = recorded.reply.result.clone().unwrap_or_else(|| recorded.reply.thought.clone());
                let words = subtask_result(&recorded, self.wording);
                self.hear_result(worker, recorded.reply.result.as_deref());
                self.archive_app(worker, SubtaskStatus::Finished, words);
                self.subtask_finished(doubt, result);
            }
            AppStatus::Fail if stalls => self.app_failed(worker, SubtaskStatus::Failed, &stalled(repeats)),
            AppStatus::Fail => {
                let reason = recorded.reply.result.as_ref().unwrap_or(&recorded.reply.thought);
                self.hear_result(worker, recorded.reply.result.as_deref());
                self.app_failed(worker, SubtaskStatus::Failed, reason);
            }
            AppStatus::Pending => self.question(App(worker), recorded.reply.questions),
            AppStatus::Confirm => {
                // No approval was needed: the guard is off, or an earlier grant covers it.
                self.app_moves(worker, AppTrigger::Approved);
                self.begin_step(App(worker));
            }
            AppStatus::Error => {
                self.break_off("unexpected state of the AppAgent after a recorded step");
            }
        }
    }

    /// Returns `true` if the last action on the sub-task was seen to close the agent's window.
    fn closed_as_meant(&self, worker: SubtaskWorker) -> bool {
        let Some(app) = self.app(worker) else { return false };
        let Owner::Window(window) = &app.owner else { return false };
        let last = app.memory.last().filter(|item| item.step >= app.first_step);
        let action = last.and_then(|item| item.actions.last()).filter(|info| info.result.is_success());
        action.is_some_and(|info| {
            info.result.report.actions().last().is_some_and(|action| action.closed(window.id))
        })
    }

    pub(super) fn app_failed(&mut self, worker: SubtaskWorker, status: SubtaskStatus, reason: &str) {
        self.archive_app(worker, status, reason.to_owned());
        self.subtask_failed(status, reason);
    }

    /// Takes in what an agent says that it found: a model wrote it, after it had read. Not our sentences about results.
    fn hear_result(&mut self, worker: SubtaskWorker, result: Option<&str>) {
        let owner = self.app(worker).map(|app| app.owner.agent().to_string());
        if let (Some(owner), Some(result)) = (owner, result) {
            self.heard.add_report(&owner, result);
        }
    }

    fn archive_app(&mut self, worker: SubtaskWorker, status: SubtaskStatus, result: String) {
        if let Some(app) = self.app(worker) {
            let (subtask, agent) = (app.subtask.clone(), app.owner.agent());
            let (round, goes_on) = (self.rounds, self.is_interrupted(worker));
            if let Some(app) = self.app_mut(worker).filter(|_| !goes_on) {
                app.memory.end(round, &subtask, &status.to_string(), &result);
            }
            // A workflow that an agent runs is one sub-task, whatever windows it works in.
            if !self.round.nesting.is_running() {
                self.archive(SubtaskRecord { subtask, agent, status, result });
            }
        }
    }
}

impl AppAgent {
    /// Notes a recorded step and what to say about it in the next one. Returns whether a dialog that its actions raised keeps its
    /// FINISH from standing.
    fn note(&mut self, recorded: &RecordedStep<AppReply>, limits: &RoundLimits) -> bool {
        self.word = Some(recorded.reply.word.clone());
        let looks_again = recorded.reply.status == AppStatus::Screenshot;
        let only_looks = looks_again && recorded.actions.is_empty();
        self.screenshots = if only_looks { self.screenshots.saturating_add(1) } else { 0 };
        self.picture_wanted = looks_again;
        self.marks = looks_again.then(|| marks(&recorded.reply)).flatten();
        if self.screenshots > limits.screenshots_max {
            self.notice =
                format!("You took {} screenshots without acting. Act now, or reply FAIL.", self.screenshots);
            self.marks = None;
        }
        let finishes = recorded.reply.status == AppStatus::Finish;
        let Some(dialog) = recorded.open_question().filter(|_| finishes) else { return false };
        self.notice = format!(
            "Your FINISH does not stand: {} opened and is still open. Handle it, or reply FINISH again if it is meant to stay.",
            dialog.label()
        );
        true
    }
}

/// The elements that a reply asks to annotate; `None` for all.
fn marks(reply: &AppReply) -> Option<Vec<ElementId>> {
    let ids: Vec<ElementId> =
        reply.control_reannotate.iter().take(MARKS_MAX).filter_map(|id| id.trim().parse().ok()).collect();
    (!ids.is_empty()).then_some(ids)
}
