//! The current round: its request, its sub-tasks, and what is left to check.

use serde::{Deserialize, Serialize};

use super::{
    documents::UnsavedDocuments,
    hiding::{Values, hide},
    round::SubtaskRecord,
};
use crate::{evaluation::Evaluation, observation::Observation};
use deskhand_ui::{action::CallReport, ids::WindowId, text::clip};

/// The most sub-tasks of a round kept for prompts. The journal keeps all of them.
const SUBTASKS_MAX: usize = 30;
/// The longest kept result of a sub-task, in characters.
const RESULT_CHARS_MAX: usize = 6_000;

/// The current round.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct RoundLedger {
    /// Its number, from 1; 0 before the first.
    number: u32,
    request: String,
    subtasks: Vec<SubtaskRecord>,
    failures_in_row: u32,
    /// Set while any effect since the HostAgent's last decision is unverified.
    unverified: bool,
    /// The documents with unsaved changes.
    #[serde(default)]
    unsaved: UnsavedDocuments,
    /// Set if the user wrote or did something since the last request to the HostAgent.
    #[serde(default)]
    unheard: bool,
    /// The last judgement that returned work to the HostAgent, with its round.
    #[serde(default)]
    evaluated: Option<(u32, Evaluation)>,
}

impl RoundLedger {
    /// Begins the next round.
    pub(super) fn begin(&mut self, request: String) {
        let evaluated = self.evaluated.take();
        *self = Self { number: self.number.saturating_add(1), request, evaluated, ..Self::default() };
    }

    /// Ends the round; returns its request.
    pub(super) fn end(&mut self) -> String {
        std::mem::take(&mut self.request)
    }

    /// The number of the round.
    pub(super) const fn number(&self) -> u32 {
        self.number
    }

    /// The request of the user.
    pub(super) fn request(&self) -> &str {
        &self.request
    }

    /// The sub-tasks that ended.
    pub(super) fn subtasks(&self) -> &[SubtaskRecord] {
        &self.subtasks
    }

    /// Archives a sub-task.
    pub(super) fn archive(&mut self, mut record: SubtaskRecord) {
        record.result = clip(&record.result, RESULT_CHARS_MAX);
        if self.subtasks.len() >= SUBTASKS_MAX {
            self.subtasks.remove(0);
        }
        self.subtasks.push(record);
    }

    /// Counts a sub-task that did not succeed.
    pub(super) const fn failed(&mut self) {
        self.unverified = true;
        self.failures_in_row = self.failures_in_row.saturating_add(1);
    }

    /// Counts a sub-task that is reported as done; `doubted` if its effects were not all seen.
    pub(super) const fn succeeded(&mut self, doubted: bool) {
        self.failures_in_row = 0;
        self.unverified |= doubted;
    }

    /// The number of sub-tasks in a row that failed.
    pub(super) const fn failures_in_row(&self) -> u32 {
        self.failures_in_row
    }

    /// Returns `true` if an effect since the HostAgent's last decision is unverified.
    pub(super) const fn is_unverified(&self) -> bool {
        self.unverified
    }

    /// The round does not end before the HostAgent was asked once more.
    pub(super) const fn is_to_be_heard(&mut self) {
        self.unheard = true;
        self.unverified = true;
    }

    /// Returns `true` if the user wrote or did something since the last request to the HostAgent.
    pub(super) const fn is_unheard(&self) -> bool {
        self.unheard
    }

    /// A question to the HostAgent has all words of the user.
    pub(super) const fn heard(&mut self) {
        self.unheard = false;
    }

    /// The HostAgent decides by what is there now.
    pub(super) const fn checked(&mut self) {
        self.unverified = false;
        self.unheard = false;
    }

    /// Notes which documents an observation shows.
    pub(super) fn see(&mut self, observation: &Observation) {
        self.unsaved.see(observation);
    }

    /// Notes what the actions of a call prove of documents.
    pub(super) fn call_returned(&mut self, window: Option<WindowId>, report: &CallReport) {
        self.unsaved.take_in(window, report);
    }

    /// The documents with unsaved changes.
    pub(super) fn unsaved(&self) -> Vec<String> {
        self.unsaved.names()
    }

    /// Notes the judgement for which the round is continued.
    pub(super) fn repaired(&mut self, evaluation: Evaluation) {
        self.evaluated = Some((self.number, evaluation));
    }

    /// The judgement for which the round was continued, if it was.
    pub(super) fn repair(&self) -> Option<&Evaluation> {
        self.evaluated.as_ref().filter(|(round, _)| *round == self.number).map(|(_, evaluation)| evaluation)
    }

    /// Puts dots in the place of passwords.
    pub(super) fn hide(&mut self, values: &Values) {
        let evaluated = self.evaluated.take();
        hide(self, values);
        self.evaluated = evaluated;
    }
}
