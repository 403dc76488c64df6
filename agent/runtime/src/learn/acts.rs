//! Acts performed for a request, read from the journal.

use std::{collections::BTreeMap, sync::Arc};

use deskhand_machine::{
    agent::AgentRef,
    command::{CallResult, ToolCommand, ToolSpec},
    observation::Observation,
    outcome::OutcomeKind,
    provenance::Provenance,
    record::{JournalEntry, JournalRecord},
    reply::extract_json,
    session::{Effect, FollowerPlan, SessionEvent},
};
use deskhand_ui::{WindowView, ids::WindowId, text::excerpt};
use serde_json::Value;

use super::LearnError;
use crate::journal::SessionFolder;

/// Maximum length of an agent's reason as the description of a step, in characters.
const ABOUT_CHARS_MAX: usize = 120;

/// A call with what came of it, and what the agent saw before it.
#[derive(Debug, Clone)]
pub(super) struct ObservedCall {
    /// Why, in the words of the agent.
    pub(super) about: String,
    pub(super) command: ToolCommand,
    pub(super) result: CallResult,
    /// The window as it was seen last before the call.
    pub(super) view: Option<Arc<WindowView>>,
    /// `true` if the HostAgent made the call.
    pub(super) is_host: bool,
}

/// A request that was fulfilled, and how.
#[derive(Debug, Default)]
pub(super) struct FulfilledRequest {
    pub(super) request: String,
    pub(super) acts: Vec<ObservedCall>,
    /// The day of the session.
    pub(super) on: String,
    /// All tools, for what their arguments are.
    pub(super) tools: Vec<ToolSpec>,
    pub(super) notes: Vec<String>,
    /// Who made the request and its file.
    pub(super) provenance: Provenance,
}

/// Reads the journal of a session for one of its requests.
pub(super) fn taught(folder: &SessionFolder, round: Option<u32>) -> Result<FulfilledRequest, LearnError> {
    let mut reader = LearnJournalReader::default();
    folder.read_lines(&mut |line| reader.line(line))?;
    let LearnJournalReader { tools, ended, on, .. } = reader;
    let finished =
        |(_, outcome, _): &&(u32, OutcomeKind, FulfilledRequest)| *outcome == OutcomeKind::Finished;
    let found = match round {
        Some(round) => ended.iter().find(|(number, ..)| *number == round),
        None => ended.iter().rev().find(finished),
    };
    match found {
        Some((_, OutcomeKind::Finished, taught)) => {
            let FulfilledRequest { request, acts, notes, provenance, .. } = taught;
            let (request, acts, notes) = (request.clone(), acts.clone(), notes.clone());
            Ok(FulfilledRequest { request, acts, on, tools, notes, provenance: *provenance })
        }
        Some((number, outcome, _)) => {
            let text = format!("request {number} ended as {outcome}; only a finished one can be learnt");
            Err(LearnError::NothingToLearn(text))
        }
        None => {
            let text = match round {
                Some(round) => {
                    format!("there is no request {round} that has ended; there are {}", ended.len())
                }
                None => "no request of the session was finished, so there is nothing to learn".to_owned(),
            };
            Err(LearnError::NothingToLearn(text))
        }
    }
}

#[derive(Default)]
struct LearnJournalReader {
    on: String,
    tools: Vec<ToolSpec>,
    round: u32,
    current: FulfilledRequest,
    ended: Vec<(u32, OutcomeKind, FulfilledRequest)>,
    /// The last view of each window.
    views: BTreeMap<WindowId, Arc<WindowView>>,
    is_host: bool,
    about: String,
    command: Option<ToolCommand>,
}

impl LearnJournalReader {
    fn line(&mut self, line: &JournalEntry) {
        match &line.record {
            JournalRecord::Header(header) => {
                self.tools = [header.config.host_tools.clone(), header.config.app_tools.clone()].concat();
                self.on = day(header.created_ms);
            }
            JournalRecord::Changed(change) => {
                self.tools = [change.config.host_tools.clone(), change.config.app_tools.clone()].concat();
            }
            JournalRecord::Effect(record) => {
                self.round = record.round;
                if let Some(step) = &record.step {
                    self.is_host = step.agent == AgentRef::HostAgent;
                }
                match &record.effect {
                    Effect::Call { command } => self.command = Some(command.clone()),
                    Effect::Finish { outcome } => {
                        let taught = std::mem::take(&mut self.current);
                        self.ended.push((self.round, outcome.kind, taught));
                    }
                    Effect::Delegate { subtask, .. } => {
                        let note = format!(
                            "“{subtask}” was done by an agent without a window, and is not a part of it"
                        );
                        self.current.notes.push(note);
                    }
                    Effect::AwaitRequest
                    | Effect::Observe { .. }
                    | Effect::Rank { .. }
                    | Effect::Retrieve { .. }
                    | Effect::Ask { .. }
                    | Effect::AskUser { .. }
                    | Effect::AwaitApproval { .. } => {}
                }
            }
            JournalRecord::Event(record) => self.event(&record.event),
        }
    }

    fn event(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Requested { text, plan } => {
                let provenance = plan.as_ref().map_or(Provenance::Made, FollowerPlan::made_by);
                self.current =
                    FulfilledRequest { request: text.clone(), provenance, ..FulfilledRequest::default() };
            }
            SessionEvent::Observed { observation: Observation::Window(view) } => {
                if let Some(surface) = view.surfaces.first() {
                    self.views.insert(surface.window.id, Arc::new(view.clone()));
                }
            }
            SessionEvent::Replied { reply, .. } => self.about = about(&reply.text),
            SessionEvent::Returned { result } => {
                let Some(command) = self.command.take() else { return };
                let view = command.window.and_then(|window| self.views.get(&window)).cloned();
                let (about, is_host) = (self.about.clone(), self.is_host);
                self.current.acts.push(ObservedCall {
                    about,
                    command,
                    result: result.clone(),
                    view,
                    is_host,
                });
            }
            SessionEvent::Ended
            | SessionEvent::Observed { .. }
            | SessionEvent::ObserveFailed { .. }
            | SessionEvent::Ranked { .. }
            | SessionEvent::Retrieved { .. }
            | SessionEvent::ModelFailed { .. }
            | SessionEvent::Answered { .. }
            | SessionEvent::Unanswered { .. }
            | SessionEvent::Approved { .. }
            | SessionEvent::Rejected { .. }
            | SessionEvent::Delegated { .. }
            | SessionEvent::Acknowledged { .. }
            | SessionEvent::Stopped { .. }
            | SessionEvent::Suspended { .. }
            | SessionEvent::Told { .. }
            | SessionEvent::TakenOver { .. }
            | SessionEvent::HandedBack { .. }
            | SessionEvent::Disclosed { .. }
            | SessionEvent::Resumed { .. } => {}
        }
    }
}

/// Why an agent does something, on one line.
fn about(reply: &str) -> String {
    let Ok(reply) = extract_json(reply) else { return String::new() };
    let said = ["thought", "Thought"].iter().find_map(|name| reply.value.get(name).and_then(Value::as_str));
    excerpt(said.unwrap_or_default(), ABOUT_CHARS_MAX)
}

/// The day of a time in milliseconds since 1970-01-01, where this machine is: 2026-11-30.
pub(super) fn day(at_ms: u64) -> String {
    let at = i64::try_from(at_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    at.map(|at| at.to_zoned(jiff::tz::TimeZone::system()).date().to_string()).unwrap_or_default()
}
