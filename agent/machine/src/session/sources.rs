//! Texts that do not come from the user: what agents saw, what tools and agents returned, and files of strangers.

use serde::{Deserialize, Serialize};

use super::{
    heard::OutsideContent,
    hiding::{Values, hide},
    words::{Foreign, ReturnedTexts, SavedFiles},
};
use crate::{
    command::CallResult, intent::Does, observation::Observation, policy::ObservedText, reply::HostReply,
    retrieval::Hit,
};
use deskhand_ui::WindowInfo;

/// Texts that do not come from the user, and the files that the session saved.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SourceLedger {
    /// Output of tools and agents.
    returned: ReturnedTexts,
    /// Text received from outside the session.
    heard: OutsideContent,
    /// The texts of files that say what is done and that this user has not made.
    foreign: Foreign,
    /// The files that were saved.
    made: SavedFiles,
}

impl SourceLedger {
    /// Takes in what an agent sees.
    pub(super) fn see(&mut self, observation: &Observation) {
        self.heard.see(observation);
    }

    /// Takes in what retrievers found.
    pub(super) fn found(&mut self, hits: &[Hit]) {
        hits.iter().for_each(|hit| self.heard.add_hit(hit));
    }

    /// Takes in the result of a call.
    pub(super) fn call_returned(&mut self, tool: &str, does: Does, result: &CallResult) {
        self.made.take_in(&result.report);
        self.returned.add_output(tool, &result.output);
        self.heard.add_output(tool, does, &result.output);
    }

    /// Takes in the report of an agent that works on its own.
    pub(super) fn reported(&mut self, agent: &str, report: &str) {
        self.returned.add_report(agent, report.to_owned());
        self.heard.add_report(agent, report);
    }

    /// Takes in what an agent says that it found: a model wrote it, after it had read.
    pub(super) fn told_by(&mut self, agent: &str, result: &str) {
        self.heard.add_report(agent, result);
    }

    /// Takes in what a person did, which quotes what was on the screen.
    pub(super) fn done_by_hand(&mut self, acts: &[String]) {
        self.heard.add_hands(acts);
    }

    /// Takes in the texts of a file that this user has not made.
    pub(super) fn add_foreign(&mut self, place: String, texts: &[String]) {
        self.foreign.add(place, texts);
    }

    /// Returns `true` if nothing from outside was received yet.
    pub(super) fn is_trusted(&self) -> bool {
        self.heard.is_empty() && self.foreign.is_empty()
    }

    /// Notes what the HostAgent plans.
    pub(super) fn plan(&mut self, reply: &HostReply) {
        self.heard.plan(reply);
    }

    /// Notes an application that the session went to.
    pub(super) fn went_to(&mut self, window: &WindowInfo) {
        self.heard.went_to(window);
    }

    /// The files that were saved.
    pub(super) fn saved_files(&self) -> impl Iterator<Item = &str> {
        self.made.paths()
    }

    /// The texts of strangers' files, then those of tools and agents, each the latest first.
    pub(super) fn returned(&self) -> impl Iterator<Item = ObservedText<'_>> {
        self.foreign.texts().chain(self.returned.texts())
    }

    /// The texts from outside, then those around hosts and addresses, each the latest first.
    pub(super) fn read(&self) -> impl Iterator<Item = ObservedText<'_>> {
        self.heard.texts().chain(self.heard.reached())
    }

    /// The texts of strangers' files, then those from outside, each the latest first.
    pub(super) fn heard(&self) -> impl Iterator<Item = ObservedText<'_>> {
        self.foreign.texts().chain(self.heard.texts())
    }

    /// The plans that were made before anything from outside was received.
    pub(super) fn plans(&self) -> impl Iterator<Item = &str> {
        self.heard.plans()
    }

    /// Puts dots in the place of passwords.
    pub(super) fn hide(&mut self, values: &Values) {
        hide(&mut self.returned, values);
        hide(&mut self.heard, values);
    }
}
