//! What was done so far, as text for a prompt: an agent's own steps, and those of others.

use std::fmt::Write as _;

use super::marks::Marks;
use crate::{
    action::{Report, words::Wording},
    agent::AgentRef,
    blackboard::{Blackboard, Trajectory},
    command::{ActionCommandInfo, CallResult, CallStatus, Verdict},
    known_tools::SELECT_WINDOW,
    memory::MemoryItem,
    session::SubtaskRecord,
    text::{clip, one_line, tokens, untrusted},
};

/// The longest result of a call in a prompt, in characters.
pub(super) const RESULT_CHARS_MAX: usize = 6_000;
/// The most blackboard steps shown to an agent.
const TRAJECTORIES_SHOWN: usize = 12;
/// Token limits (estimated) for the steps of others and for earlier sub-tasks; the oldest are dropped first.
const TRAJECTORIES_TOKENS_MAX: usize = 6_000;
const SUBTASKS_TOKENS_MAX: usize = 4_000;

/// Token limit (estimated) for the user's words; the oldest are dropped first.
pub(super) const WORDS_TOKENS_MAX: usize = 2_000;

/// What the user answered.
pub(super) fn answers_text(blackboard: &Blackboard) -> String {
    let lines: Vec<String> = blackboard
        .answers()
        .map(|answer| format!("- {} → {}", one_line(&answer.question), one_line(&answer.answer)))
        .collect();
    fitting(&lines, WORDS_TOKENS_MAX)
}

/// The last of `entries` that fit.
pub(super) fn fitting(entries: &[String], tokens_max: usize) -> String {
    let mut left = tokens_max;
    let fits = |entry: &&String| left.checked_sub(tokens(entry) + 1).map(|rest| left = rest).is_some();
    let count = entries.iter().rev().take_while(fits).count();
    let shown = entries.get(entries.len() - count..).unwrap_or_default();
    let mut text = shown.join("\n");
    if count < entries.len() {
        text = format!("({} earlier ones omitted)\n{text}", entries.len() - count);
    }
    text
}

/// A call and its result.
fn action_text(info: &ActionCommandInfo, wording: Wording) -> String {
    let line = info.command.to_line();
    // A call that names its target says it already.
    let target = info.target.as_ref().filter(|_| !info.command.arguments.contains_key("name"));
    let target = target.map(|target| format!(" on {target}")).unwrap_or_default();
    format!("{line}{target} → {}", result_line(info, wording))
}

/// The sentence and data of a result, clipped.
pub(crate) fn result_text(info: &ActionCommandInfo, wording: Wording) -> String {
    with_output(one_line(&wording.of(&info.result.report)), info)
}

/// How a call ended, without what it says.
fn verdict_words(result: &CallResult) -> String {
    match (result.status, result.effect) {
        (CallStatus::Success, Some(verdict)) => verdict.to_string(),
        (CallStatus::Success, None) => "ok".to_owned(),
        (CallStatus::Failure, Some(verdict)) => format!("FAILED, {verdict}"),
        (CallStatus::Failure, None) => "FAILED".to_owned(),
        (CallStatus::Skipped, _) => "skipped".to_owned(),
    }
}

/// What came of a call, beside the call: `seen: “Save” closed`.
pub(crate) fn result_line(info: &ActionCommandInfo, wording: Wording) -> String {
    let said = one_line(&wording.beside_command(&info.result.report));
    with_output(format!("{}: {said}", verdict_words(&info.result)), info)
}

/// Whether data came back that neither the command nor the sentence says: what an action in a window read back is what it was told.
fn tells_more(info: &ActionCommandInfo) -> bool {
    let is_action = matches!(info.result.report, Report::Action { .. } | Report::Sequence { .. });
    let is_said = is_action && info.result.effect == Some(Verdict::Seen);
    !info.result.output.is_null() && !is_said
}

/// A sentence with the data that came back.
fn with_output(mut text: String, info: &ActionCommandInfo) -> String {
    if tells_more(info) {
        let _ = write!(text, " {}", info.result.output);
    }
    clip(&text, RESULT_CHARS_MAX)
}

/// Whether a call told something that others may need.
pub(crate) fn reads(info: &ActionCommandInfo) -> bool {
    info.result.status == CallStatus::Success && (info.result.effect.is_none() || tells_more(info))
}

/// A step of an agent's own: what it saw and thought, and what came of its calls.
pub(super) fn step_text(item: &MemoryItem, wording: Wording, marks: &Marks) -> String {
    let status = match item.status.as_str() {
        "CONTINUE" => String::new(),
        status => format!(" ({status})"),
    };
    let mut text = format!("Step {}{status}: {}", item.step, one_line(&item.thought));
    if !item.observation.trim().is_empty() {
        let _ = write!(text, " Saw: {}", one_line(&item.observation));
    }
    let (skipped, ran): (Vec<_>, Vec<_>) =
        item.actions.iter().partition(|info| info.result.status == CallStatus::Skipped);
    for info in ran {
        let _ = write!(text, "\n- {}", marks.line(action_text(info, wording)));
    }
    if let Some(first) = skipped.first() {
        let lines: Vec<String> = skipped.iter().map(|info| info.command.to_line()).collect();
        let why = one_line(&wording.beside_command(&first.result.report));
        let _ = write!(text, "\n- {}", marks.line(format!("skipped, {why}: {}", lines.join(", "))));
    }
    text
}

/// A step of an operator, which does not know the commands that its gestures became: sentences alone.
pub(super) fn operator_step_text(item: &MemoryItem, wording: Wording, marks: &Marks) -> String {
    let line = |info: &ActionCommandInfo| {
        let told = format!("{}: {}", verdict_words(&info.result), result_text(info, wording));
        format!("\n- {}", marks.line(told))
    };
    let lines: String = item.actions.iter().map(line).collect();
    format!("Step {}: {}{lines}", item.step, one_line(&item.thought))
}

/// An older step in short: what was read, and how the other calls ended.
pub(super) fn short_step_text(item: &MemoryItem, wording: Wording, marks: &Marks) -> String {
    let line = |info: &ActionCommandInfo| {
        if reads(info) {
            return action_text(info, wording);
        }
        format!("{} → {}", info.command.to_line(), verdict_words(&info.result))
    };
    let lines: Vec<String> = item.actions.iter().map(|info| marks.line(line(info))).collect();
    format!("Step {}: {}", item.step, lines.join("; "))
}

/// What others did and found, for one agent: the steps that belong to no ended sub-task, and the ended sub-tasks with theirs.
pub(super) fn others_texts(
    blackboard: &Blackboard,
    records: &[SubtaskRecord],
    reader: &AgentRef,
    marks: &Marks,
) -> (String, String) {
    // The HostAgent and a judge follow what was done; an agent with a sub-task of its own needs what was read.
    let follows = matches!(reader, AgentRef::HostAgent | AgentRef::EvaluationAgent);
    let steps: Vec<&Trajectory> =
        blackboard.trajectories().filter(|step| step.agent != *reader && !is_only_focus(step)).collect();
    let steps = steps.get(steps.len().saturating_sub(TRAJECTORIES_SHOWN)..).unwrap_or_default();
    let is_of = |step: &Trajectory, record: &SubtaskRecord| {
        step.agent == record.agent && step.subtask == record.subtask
    };
    let (ended, open): (Vec<&Trajectory>, Vec<&Trajectory>) =
        steps.iter().copied().partition(|step| records.iter().any(|record| is_of(step, record)));
    let mut entries: Vec<String> = Vec::new();
    let mut before: Option<&Trajectory> = None;
    for step in open {
        let same =
            before.is_some_and(|before| (&before.agent, &before.subtask) == (&step.agent, &step.subtask));
        let head = if same { String::new() } else { marks.line(whose(step)) };
        let lines = step_lines(step, follows, "", marks);
        if !lines.is_empty() {
            entries.push(if same { lines } else { format!("{head}\n{lines}") });
            before = Some(step);
        }
    }
    let record = |record: &SubtaskRecord| {
        let result = clip(&one_line(&record.result), RESULT_CHARS_MAX);
        let line =
            format!("- “{}” by {}: {} — {result}", one_line(&record.subtask), record.agent, record.status);
        let own = ended.iter().filter(|step| is_of(step, record));
        // The result says what came of the last step.
        let lines = own.map(|step| step_lines(step, follows, &record.result, marks));
        let lines: Vec<String> = lines.filter(|lines| !lines.is_empty()).collect();
        std::iter::once(marks.line(line)).chain(lines).collect::<Vec<_>>().join("\n")
    };
    let records: Vec<String> = records.iter().map(record).collect();
    let told = |source: &str, entries: &[String], tokens_max: usize| {
        let text = fitting(entries, tokens_max);
        if text.is_empty() { text } else { untrusted(source, &text) }
    };
    (
        told("tool results", &entries, TRAJECTORIES_TOKENS_MAX),
        told("sub-task results", &records, SUBTASKS_TOKENS_MAX),
    )
}

/// Whether a step did nothing but bring a window to the front, which tells nobody anything.
fn is_only_focus(step: &Trajectory) -> bool {
    step.actions.iter().all(|action| action.starts_with(SELECT_WINDOW))
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

/// The calls of a step and their results, a line each; only what was read unless the reader `follows`. What `known` says already is
/// left out.
fn step_lines(step: &Trajectory, follows: bool, known: &str, marks: &Marks) -> String {
    let calls = step.actions.iter().zip(&step.results).enumerate();
    let shown = calls.filter(|(index, _)| follows || step.reads.get(*index).copied().unwrap_or(true));
    let line = |(_, (action, result)): (usize, (&String, &String))| {
        let said = result.split_once(": ").map_or(result.as_str(), |(_, said)| said);
        let result = if said.is_empty() || !known.contains(said) {
            result.as_str()
        } else {
            result.split(':').next().unwrap_or_default()
        };
        marks.line(format!("  - {action} → {result}"))
    };
    shown.map(line).collect::<Vec<_>>().join("\n")
}
