//! Resumes a session after its process ended, and prepares one that is suspended.

use super::{
    app::App,
    effect::Effect,
    event::{EventRecord, IncomingEvent, SessionEvent},
    host::HostAgentKind,
    machine::ApplyError,
    stall::Stall,
    state::{Session, SessionStage, StepPhase},
    step::Steps as _,
};
use crate::{
    agent::{AgentHome, AgentReport, SubtaskWorker},
    command::CallResult,
    session::SubtaskStatus,
};
use deskhand_ui::{action::Verdict, ids::AgentId};

/// The result of work that was in progress when the process ended.
const HALF_DONE: &str = "the process ended while it ran; it may be half done: check before you repeat it";

/// The notice to agents on a new desktop.
const DESKTOP_LOST: &str = "The process ended, and the session resumes on a new desktop. All earlier windows are gone, with \
                            everything that was not saved. Do not assume that anything is as it was.";

impl Session {
    /// Resumes after the process ended; an ended session waits for another request. The event names the effect that was in
    /// progress, if any. The time without a process does not count.
    pub(super) fn resume(&mut self, desktop_kept: bool, record: &EventRecord) -> Result<(), ApplyError> {
        let at_ms = record.at_ms;
        match (&self.pending, record.effect) {
            (Some(pending), Some(begun)) if pending.id != begun => {
                return Err(ApplyError::OtherEffect { wanted: pending.id, came: record.effect });
            }
            (None, Some(_)) => return Err(ApplyError::Ended),
            (None, None) => self.want(SessionStage::Idle, None, Effect::AwaitRequest),
            (Some(_), _) => {}
        }
        let away_ms = at_ms.saturating_sub(self.now_ms);
        self.now_ms = self.now_ms.max(at_ms);
        self.round.started_ms = self.round.started_ms.saturating_add(away_ms);
        if !desktop_kept {
            self.targets.set_windows(Vec::new());
        }
        if record.effect.is_some() {
            // What was interrupted may have changed nothing for that reason: neither it nor the next attempt is a repetition.
            self.forget_repetitions();
            self.return_interrupted_work();
            self.forget_repetitions();
        }
        if !desktop_kept {
            self.invalidate_windows();
            DESKTOP_LOST.clone_into(&mut self.host.notice);
        }
        self.hands_are_gone();
        self.ask_with_words();
        Ok(())
    }

    /// Asks again what the model did not answer or was not asked yet, within what is left of the budget.
    pub(super) fn ask_again(&mut self) {
        match std::mem::replace(&mut self.stage, SessionStage::Over) {
            SessionStage::Host(StepPhase::Asking(observed)) => self.ask(HostAgentKind, observed),
            SessionStage::App(worker, StepPhase::Asking(observed)) => self.ask(App(worker), observed),
            stage @ (SessionStage::Idle
            | SessionStage::Host(_)
            | SessionStage::App(..)
            | SessionStage::Delegated(_)
            | SessionStage::Evaluating(_)
            | SessionStage::Done(_)
            | SessionStage::Over) => self.stage = stage,
        }
    }

    fn forget_repetitions(&mut self) {
        self.host.stall = Stall::default();
        for app in &mut self.apps {
            app.stall = Stall::default();
        }
    }

    /// Reports a command or sub-task in progress as possibly half done; not one that another machine goes on with.
    fn return_interrupted_work(&mut self) {
        let Some(pending) = &self.pending else { return };
        let answers = pending.id;
        match &pending.effect {
            Effect::Call { .. } => {
                let result = CallResult::failure(Some(Verdict::Unknown), HALF_DONE);
                self.dispatch(IncomingEvent { answers, event: SessionEvent::Returned { result } });
            }
            // It goes on there, and is asked for again.
            Effect::Delegate { agent, .. } if self.is_machine(*agent) => {}
            Effect::Delegate { .. } => {
                let report = AgentReport { status: SubtaskStatus::Failed, result: HALF_DONE.to_owned() };
                self.dispatch(IncomingEvent { answers, event: SessionEvent::Delegated { report } });
            }
            Effect::AwaitRequest
            | Effect::Observe { .. }
            | Effect::Rank { .. }
            | Effect::Retrieve { .. }
            | Effect::Ask { .. }
            | Effect::AskUser { .. }
            | Effect::AwaitApproval { .. }
            | Effect::Finish { .. } => {}
        }
    }

    /// Returns `true` if an agent is on another machine.
    pub(super) fn is_machine(&self, agent: AgentId) -> bool {
        self.targets.agent(agent).is_some_and(|agent| matches!(agent.home, AgentHome::Machine))
    }

    /// Invalidates all work on windows of the old desktop: their ids may now mean other windows.
    fn invalidate_windows(&mut self) {
        self.apps.retain(|app| match app.owner.worker() {
            SubtaskWorker::Window(_) => {
                matches!(self.stage, SessionStage::App(worker, _) if app.owner.worker() == worker)
            }
            SubtaskWorker::Agent(_) => true,
        });
        match std::mem::replace(&mut self.stage, SessionStage::Over) {
            SessionStage::App(worker @ SubtaskWorker::Window(_), _) => {
                App(worker).lost(self, "the earlier desktop is gone, and its window with it");
            }
            // What the agent was shown no longer exists: observe again.
            SessionStage::Host(StepPhase::Retrieving(start) | StepPhase::Observing(start)) => {
                self.look_as(HostAgentKind, start);
            }
            SessionStage::Host(StepPhase::Ranking(ranking)) => self.look_as(HostAgentKind, ranking.start),
            SessionStage::Host(StepPhase::Asking(observed)) => {
                self.look_as(HostAgentKind, observed.restart());
            }
            stage @ (SessionStage::Idle
            | SessionStage::App(SubtaskWorker::Agent(_), _)
            | SessionStage::Host(
                StepPhase::Acting(_)
                | StepPhase::Looking(_)
                | StepPhase::Parked(..)
                | StepPhase::Questioning(_),
            )
            | SessionStage::Delegated(_)
            | SessionStage::Evaluating(_)
            | SessionStage::Done(_)
            | SessionStage::Over) => self.stage = stage,
        }
    }
}
