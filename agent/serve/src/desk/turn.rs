//! Events between two questions of a session, from the lines of its journal.

use std::sync::{Arc, Mutex, PoisonError};

use deskhand_host::{Notice, Observer};
use deskhand_machine::{
    command::{CallResult, CallStatus, ToolCommand},
    observation::Observation,
    outcome::{Outcome, OutcomeKind},
    record::{JournalEntry, JournalRecord},
    session::{Effect, NoAnswer, SessionEvent},
};
use deskhand_runtime::{
    SessionFolder, SessionStore,
    words::{command_words, result_words},
};
use deskhand_ui::action::Verdict;

use super::Telling;

/// A command, and what came of it.
#[derive(Debug, Clone)]
pub(crate) struct CompletedCommand {
    pub(crate) command: ToolCommand,
    pub(crate) result: CallResult,
}

/// Events since the last answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeskTurn {
    /// The calls that were performed or refused, in order.
    pub(crate) done: Vec<CompletedCommand>,
    /// The last thing that was looked at.
    pub(crate) seen: Option<Observation>,
    /// Why something was not approved.
    pub(crate) rejected: Option<String>,
    /// Further notes: a round that is over, an observation that failed.
    pub(crate) notes: Vec<String>,
}

impl DeskTurn {
    /// Returns `true` if everything was done.
    pub(crate) fn succeeded(&self) -> bool {
        self.rejected.is_none() && self.done.iter().all(|done| done.result.is_success())
    }

    /// Returns `true` if anything may have been done: not all was refused or skipped.
    pub(crate) fn did_something(&self) -> bool {
        let is_idle = |done: &CompletedCommand| {
            done.result.status == CallStatus::Skipped || done.result.effect == Some(Verdict::Refused)
        };
        !self.done.iter().all(is_idle)
    }

    /// Why something was not done.
    pub(super) fn failures(&self) -> String {
        let failed = self.done.iter().filter(|done| !done.result.is_success());
        let words = failed.map(|done| result_words(&done.result));
        let words = words.chain(self.rejected.clone()).chain(self.notes.iter().cloned());
        words.collect::<Vec<_>>().join("; ")
    }
}

/// Describes the outcome of a round.
pub(super) fn outcome_words(outcome: &Outcome) -> String {
    if outcome.reason.is_empty() {
        outcome.kind.to_string()
    } else {
        format!("{}: {}", outcome.kind, outcome.reason)
    }
}

/// State read from the journal, shared with the session's observer.
pub(super) struct DeskTurnState {
    store: SessionStore,
    folder: Option<SessionFolder>,
    command: Option<ToolCommand>,
    turn: DeskTurn,
    telling: Telling,
}

impl DeskTurnState {
    pub(super) fn new(store: SessionStore, telling: Telling) -> Self {
        Self { store, folder: None, command: None, turn: DeskTurn::default(), telling }
    }

    /// The folder of the session, once it has begun.
    pub(super) const fn folder(&self) -> Option<&SessionFolder> {
        self.folder.as_ref()
    }

    /// Takes the events since the last call.
    pub(super) fn take(&mut self) -> DeskTurn {
        std::mem::take(&mut self.turn)
    }

    fn read(&mut self, line: &JournalEntry) {
        match &line.record {
            JournalRecord::Header(header) => self.folder = self.store.find(&header.session.0).ok(),
            JournalRecord::Effect(record) => {
                let refused = record.refused.iter();
                self.turn.done.extend(refused.map(|one| CompletedCommand {
                    command: one.command.clone(),
                    result: one.result.clone(),
                }));
                match &record.effect {
                    Effect::Call { command } => {
                        let number = self.turn.done.len().saturating_add(1);
                        (self.telling)(format!("{number}. {}", command_words(command, None)));
                        self.command = Some(command.clone());
                    }
                    Effect::Finish { outcome } if outcome.kind != OutcomeKind::Finished => {
                        let words = outcome_words(outcome);
                        self.turn.notes.push(format!(
                            "the round of the session ended: {words}; the next call begins another one"
                        ));
                    }
                    Effect::AwaitRequest
                    | Effect::Observe { .. }
                    | Effect::Rank { .. }
                    | Effect::Retrieve { .. }
                    | Effect::Ask { .. }
                    | Effect::AskUser { .. }
                    | Effect::AwaitApproval { .. }
                    | Effect::Delegate { .. }
                    | Effect::Finish { .. } => {}
                }
            }
            JournalRecord::Event(record) => match &record.event {
                SessionEvent::Returned { result } => {
                    let done = self
                        .command
                        .take()
                        .map(|command| CompletedCommand { command, result: result.clone() });
                    self.turn.done.extend(done);
                }
                SessionEvent::Rejected { instruction, .. } => {
                    let why = instruction.clone().unwrap_or_else(|| "the user did not approve it".to_owned());
                    self.turn.rejected = Some(why);
                }
                SessionEvent::Unanswered { why } => {
                    self.turn.rejected = Some(match why {
                        NoAnswer::NoChannel => "there is nobody to ask for approval".to_owned(),
                        NoAnswer::TimedOut => "nobody answered the request for approval in time".to_owned(),
                    });
                }
                SessionEvent::Observed { observation } => self.turn.seen = Some(observation.clone()),
                SessionEvent::ObserveFailed { failure } => self.turn.notes.push(failure.to_string()),
                SessionEvent::Requested { .. }
                | SessionEvent::Ended
                | SessionEvent::Ranked { .. }
                | SessionEvent::Retrieved { .. }
                | SessionEvent::Replied { .. }
                | SessionEvent::ModelFailed { .. }
                | SessionEvent::Answered { .. }
                | SessionEvent::Approved { .. }
                | SessionEvent::Delegated { .. }
                | SessionEvent::Acknowledged { .. }
                | SessionEvent::Stopped { .. }
                | SessionEvent::Suspended { .. }
                | SessionEvent::Told { .. }
                | SessionEvent::TakenOver { .. }
                | SessionEvent::HandedBack { .. }
                | SessionEvent::Disclosed { .. }
                | SessionEvent::Resumed { .. } => {}
            },
            JournalRecord::Changed(_) => {}
        }
    }
}

/// Passes the lines of a session on.
pub(super) struct DeskJournalListener(pub(super) Arc<Mutex<DeskTurnState>>);

impl Observer for DeskJournalListener {
    fn record(&mut self, line: &JournalEntry) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).read(line);
    }

    fn notice(&mut self, notice: &Notice) {
        if notice.is_warning() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).turn.notes.push(notice.to_string());
        }
    }
}
