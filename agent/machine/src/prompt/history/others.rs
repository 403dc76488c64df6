//! Work and findings of other agents, as text for one agent.

use super::{
    fitting::{HistoryEntry, InFull, fitting_entries},
    steps::RESULT_CHARS_MAX,
};
use crate::{
    agent::AgentRef,
    blackboard::{Blackboard, Trajectory},
    known_tools::SELECT_WINDOW,
    prompt::marks::Marks,
    session::SubtaskRecord,
};
use deskhand_ui::{
    ids::ReadingId,
    text::{clip, one_line, untrusted},
};

/// The most blackboard steps shown to an agent.
const TRAJECTORIES_SHOWN: usize = 12;
/// Token limits (estimated) for the steps of others and for earlier sub-tasks.
const TRAJECTORIES_TOKENS_MAX: usize = 6_000;
const SUBTASKS_TOKENS_MAX: usize = 4_000;
/// The longest observation or thought of another agent, and the longest result of a sub-task told in brief, in characters.
const SAID_CHARS_MAX: usize = 160;

/// Who reads about others, and how.
struct PeerHistoryFormatter<'a> {
    agent: &'a AgentRef,
    marks: &'a Marks,
}

/// Renders the work and findings of others for one agent: the steps that belong to no ended sub-task, and the
/// ended sub-tasks with theirs. Readings that are included in full are noted.
pub(in crate::prompt) fn others_texts(
    blackboard: &Blackboard,
    records: &[SubtaskRecord],
    (agent, marks): (&AgentRef, &Marks),
    in_full: &mut InFull,
) -> (String, String) {
    let reader = PeerHistoryFormatter { agent, marks };
    let steps: Vec<&Trajectory> =
        blackboard.trajectories().filter(|step| step.agent != *agent && !is_only_focus(step)).collect();
    let (left_out, steps) = steps.split_at(steps.len().saturating_sub(TRAJECTORIES_SHOWN));
    let is_of = |step: &Trajectory, record: &SubtaskRecord| {
        step.agent == record.agent && step.subtask == record.subtask
    };
    let is_ended = |step: &&&Trajectory| records.iter().any(|record| is_of(step, record));
    let (ended, open): (Vec<&Trajectory>, Vec<&Trajectory>) = steps.iter().partition(is_ended);
    let left_out =
        left_out.iter().filter(|step| !is_ended(step) && !reader.lines(step, "", true).0.is_empty());
    let left_out = u32::try_from(left_out.count()).unwrap_or(u32::MAX);
    let mut entries: Vec<HistoryEntry> = Vec::new();
    let mut before: Option<&Trajectory> = None;
    for step in open {
        let same =
            before.is_some_and(|before| (&before.agent, &before.subtask) == (&step.agent, &step.subtask));
        let head = marks.line(whose(step));
        let (lines, readings) = reader.lines(step, "", /*is_last*/ true);
        if !lines.is_empty() {
            let text = if same { lines } else { format!("{head}\n{lines}") };
            entries.push(HistoryEntry { text, brief: head, readings });
            before = Some(step);
        }
    }
    let records: Vec<HistoryEntry> = records
        .iter()
        .map(|record| {
            let own = ended.iter().copied().filter(|step| is_of(step, record));
            reader.record(record, own)
        })
        .collect();
    let told = |text: String, source: &str| if text.is_empty() { text } else { untrusted(source, &text) };
    (
        told(fitting_entries(&entries, left_out, TRAJECTORIES_TOKENS_MAX, in_full), "tool results"),
        told(fitting_entries(&records, 0, SUBTASKS_TOKENS_MAX, in_full), "sub-task results"),
    )
}

/// Returns `true` if a step did nothing but bring a window to the front, which tells nobody anything.
fn is_only_focus(step: &Trajectory) -> bool {
    !step.actions.is_empty() && step.actions.iter().all(|action| action.starts_with(SELECT_WINDOW))
}

/// Whose step it is: `Step 3, AppAgent/gedit, on “Type the text”:`.
fn whose(step: &Trajectory) -> String {
    let on = if step.subtask.is_empty() {
        String::new()
    } else {
        format!(", on “{}”", one_line(&step.subtask))
    };
    format!("Step {}, {}{on}:", step.step, step.agent)
}

impl PeerHistoryFormatter<'_> {
    /// Returns `true` if it follows what was done. The HostAgent and a judge do; an agent with a sub-task of its own needs what was read.
    const fn follows(&self) -> bool {
        matches!(self.agent, AgentRef::HostAgent | AgentRef::EvaluationAgent)
    }

    /// An ended sub-task with its steps.
    fn record<'a>(&self, record: &SubtaskRecord, own: impl Iterator<Item = &'a Trajectory>) -> HistoryEntry {
        let line = |chars_max: usize| {
            let result = clip(&one_line(&record.result), chars_max);
            let work = one_line(&record.subtask);
            self.marks.line(format!("- “{work}” by {}: {} — {result}", record.agent, record.status))
        };
        let mut parts = vec![line(RESULT_CHARS_MAX)];
        let mut told = Vec::new();
        let mut own = own.peekable();
        while let Some(step) = own.next() {
            let is_last = own.peek().is_none();
            // The result says what came of the last step.
            let (lines, readings) = self.lines(step, &record.result, is_last);
            if !lines.is_empty() {
                parts.push(lines);
            }
            told.extend(readings);
        }
        HistoryEntry { text: parts.join("\n"), brief: line(SAID_CHARS_MAX), readings: told }
    }

    /// Returns the description of a step, and its calls with their results, a line each. For an agent that follows,
    /// the last step contains what was seen and thought; for others, each step contains what was seen in an
    /// application, and what was read. Content that `known` already contains is omitted.
    fn lines(&self, step: &Trajectory, known: &str, is_last: bool) -> (String, Vec<ReadingId>) {
        let mut lines = Vec::new();
        let (sees, thinks) = match self.follows() {
            true => (is_last, is_last),
            false => (step.agent != AgentRef::HostAgent, false),
        };
        for (what, said, is_told) in [("saw", &step.observation, sees), ("thought", &step.thought, thinks)] {
            let said = clip(&one_line(said), SAID_CHARS_MAX);
            if is_told && !said.is_empty() && !known.contains(&said) {
                lines.push(self.marks.line(format!("  - {what}: {said}")));
            }
        }
        let mut told = Vec::new();
        for (index, (action, result)) in step.actions.iter().zip(&step.results).enumerate() {
            if !self.follows() && !step.reads.get(index).copied().unwrap_or(true) {
                continue;
            }
            told.extend(step.readings.get(index).copied().flatten());
            let said = result.split_once(": ").map_or(result.as_str(), |(_, said)| said);
            let result = if said.is_empty() || !known.contains(said) {
                result.as_str()
            } else {
                result.split(':').next().unwrap_or_default()
            };
            lines.push(self.marks.line(format!("  - {action} → {result}")));
        }
        (lines.join("\n"), told)
    }
}
