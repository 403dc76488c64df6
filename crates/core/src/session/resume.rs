//! Going on after the process had ended.

use super::{
    app::App,
    effect::Effect,
    event::{Came, Event, EventRecord},
    host::Host,
    machine::ApplyError,
    state::{Phase, Session, Stage},
    step::AgentKind as _,
};
use crate::{
    agent::{AgentReport, Worker},
    command::{CallResult, Verdict},
    session::SubtaskStatus,
};

/// What is known of work that was out when the process ended.
const HALF_DONE: &str = "the process ended while it ran; it may be half done: look before you do it again";

/// What agents are told on a desktop that is not the one of before.
const DESKTOP_LOST: &str = "The process had ended and goes on now on a new desktop. All windows of before are gone, and what was \
                            not saved with them. Do not assume that anything is as it was.";

impl Session {
    /// Goes on after the process had ended; a session that had ended waits for another request. The event names the
    /// effect that had been begun, where one had. The time in which there was no process does not count.
    pub(super) fn resume(&mut self, desktop_kept: bool, record: &EventRecord) -> Result<(), ApplyError> {
        let at_ms = record.at_ms;
        match (&self.pending, record.effect) {
            (Some(pending), Some(begun)) if pending.id != begun => {
                return Err(ApplyError::OtherEffect { wanted: pending.id, came: record.effect });
            }
            (None, Some(_)) => return Err(ApplyError::Ended),
            (None, None) => self.want(Stage::Idle, None, Effect::AwaitRequest),
            (Some(_), _) => {}
        }
        let away_ms = at_ms.saturating_sub(self.now_ms);
        self.now_ms = self.now_ms.max(at_ms);
        self.round.started_ms = self.round.started_ms.saturating_add(away_ms);
        if !desktop_kept {
            self.targets.set_windows(Vec::new());
        }
        if record.effect.is_some() {
            self.work_that_was_out();
        }
        if !desktop_kept {
            self.windows_that_are_gone();
            DESKTOP_LOST.clone_into(&mut self.host.notice);
        }
        Ok(())
    }

    /// A command or sub-task that was out comes back as one that may be half done.
    fn work_that_was_out(&mut self) {
        let Some(pending) = &self.pending else { return };
        let answers = pending.id;
        match &pending.effect {
            Effect::Call { .. } => {
                let result = CallResult::failure(Some(Verdict::Unknown), HALF_DONE);
                self.come(Came { answers, event: Event::Returned { result } });
            }
            Effect::Delegate { .. } => {
                let report = AgentReport { status: SubtaskStatus::Failed, result: HALF_DONE.to_owned() };
                self.come(Came { answers, event: Event::Delegated { report } });
            }
            Effect::AwaitRequest
            | Effect::Observe { .. }
            | Effect::Ask { .. }
            | Effect::AskUser { .. }
            | Effect::AwaitApproval { .. }
            | Effect::Finish { .. } => {}
        }
    }

    /// Nothing may go on that was meant for a window of the desktop of before: its id can mean another window now.
    fn windows_that_are_gone(&mut self) {
        self.apps.retain(|app| match app.owner.worker() {
            Worker::Window(_) => {
                matches!(self.stage, Stage::App(worker, _) if app.owner.worker() == worker)
            }
            Worker::Agent(_) => true,
        });
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::App(worker @ Worker::Window(_), _) => {
                App(worker).lost(self, "the desktop of before is gone, and its window with it");
            }
            // What it was shown is no longer there: it looks again.
            Stage::Host(Phase::Observing(start)) => self.look_as(Host, start),
            Stage::Host(Phase::Asking(observed)) => self.look_as(Host, observed.again()),
            stage @ (Stage::Idle
            | Stage::App(Worker::Agent(_), _)
            | Stage::Host(Phase::Acting(_) | Phase::Parked(..) | Phase::Questioning(_))
            | Stage::Delegated(_)
            | Stage::Evaluating(_)
            | Stage::Done(_)
            | Stage::Over) => self.stage = stage,
        }
    }
}
