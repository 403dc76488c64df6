//! Items stored for later: answers, notes, readings, pictures, and hits of retrievers.

use serde_json::Value;

use super::fitting::{HistoryEntry, InFull, fitting, fitting_entries};
use crate::{
    agent::AgentRef,
    blackboard::{AnsweredQuestion, Blackboard, SavedPicture, TakeoverSummary},
    memory::{AgentMemory, PastWork},
    prompt::{marks::Marks, relevant_words},
    retrieval::Hit,
    session::{SubtaskRecord, SubtaskStatus},
};
use deskhand_ui::{
    PictureRef,
    text::{clip, excerpt, one_line, tokens, untrusted},
};

/// Token limit (estimated) for the user's words.
pub(in crate::prompt) const WORDS_TOKENS_MAX: usize = 2_000;
/// Token limits (estimated) for an agent's own notes, those of others, and the list of readings.
const OWN_NOTES_TOKENS_MAX: usize = 1_500;
const NOTES_TOKENS_MAX: usize = 1_000;
const READINGS_TOKENS_MAX: usize = 1_000;
/// Token limits (estimated) for what an agent did before, for what the user did by hand, and for what is handed to one that works on its own.
const PAST_TOKENS_MAX: usize = 1_200;
const HANDS_TOKENS_MAX: usize = 1_500;
const CONTEXT_TOKENS_MAX: usize = 2_000;
/// The longest result in the latter, in characters.
const CONTEXT_CHARS_MAX: usize = 1_000;
/// Maximum length of a quoted reading, in characters.
const QUOTE_CHARS_MAX: usize = 80;
/// The longest text of a hit, in characters. Retrievers make them shorter.
const HIT_CHARS_MAX: usize = 4_000;

/// Renders the user's answers, unprompted messages and manual work. The latter quotes the screen, so it stands
/// between marks.
pub(in crate::prompt) fn answers_text(blackboard: &Blackboard, marks: &Marks) -> String {
    let line = |answer: &AnsweredQuestion| match answer.step {
        None => format!("- {} → {}", one_line(&answer.question), one_line(&answer.answer)),
        Some(step) => {
            format!("- The user said during the work, at step {step}: {}", one_line(&answer.answer))
        }
    };
    let lines: Vec<String> = blackboard.answers().map(line).collect();
    let words = marks.said(&fitting(&lines, WORDS_TOKENS_MAX));
    let entries: Vec<HistoryEntry> = blackboard.hands().map(|hands| hands_entry(hands, marks)).collect();
    let hands = fitting_entries(&entries, 0, HANDS_TOKENS_MAX, &mut InFull::default());
    [words, hands].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Renders the work of a person who took over.
fn hands_entry(hands: &TakeoverSummary, marks: &Marks) -> HistoryEntry {
    let head = format!("- The user took over mouse and keyboard at step {}", hands.step);
    let acts: Vec<String> = hands.acts.iter().map(|act| marks.line(format!("  - {act}"))).collect();
    let unwatched = hands.unwatched.iter().map(|what| marks.line(format!("  - not known: {what}")));
    let all: Vec<String> = acts.into_iter().chain(unwatched).collect();
    let brief = format!("{head} and did {} things", hands.acts.len());
    let text = match all.is_empty() {
        true => format!("{head}, and changed nothing that was seen"),
        false => {
            let told = marks.number(&untrusted("what the user did", &all.join("\n")));
            format!("{head} and did this themselves:\n{told}")
        }
    };
    HistoryEntry { text, brief, readings: Vec::new() }
}

/// Renders the notes of agents: first those of others, then the reader's own. Models wrote them, and may quote
/// texts that they read.
pub(in crate::prompt) fn notes_text(blackboard: &Blackboard, reader: &AgentRef, marks: &Marks) -> String {
    let line = |agent: &AgentRef, step: u32, text: &str| {
        marks.told(&one_line(&format!("- step {step}, {agent}: {text}")))
    };
    let lines = |own: bool| -> Vec<String> {
        let notes = blackboard.notes().filter(|note| (note.agent == *reader) == own);
        notes.map(|note| line(&note.agent, note.step, &note.text)).collect()
    };
    let parts = [
        fitting(&lines(/*own*/ false), NOTES_TOKENS_MAX),
        fitting(&lines(/*own*/ true), OWN_NOTES_TOKENS_MAX),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Renders the session's readings that are not included in full: ids, calls, and the beginnings of the texts.
pub(in crate::prompt) fn readings_text(blackboard: &Blackboard, in_full: &InFull, marks: &Marks) -> String {
    let lines: Vec<String> = blackboard
        .readings()
        .filter(|reading| !in_full.has(reading.id))
        .map(|reading| {
            let (id, step, agent) = (reading.id, reading.step, &reading.agent);
            marks.line(format!("- {id}, step {step}, {agent}: {} → {}", reading.call, reading.what))
        })
        .collect();
    let mut text = fitting(&lines, READINGS_TOKENS_MAX);
    if blackboard.dropped() > 0 {
        text = format!("({} before these are found by their words)\n{text}", blackboard.dropped());
    }
    if lines.is_empty() { String::new() } else { marks.number(&untrusted("tool results", &text)) }
}

/// Summarizes the output of a call: its amount, and its beginning.
pub(crate) fn digest(output: &Value) -> String {
    let quote = |text: &str| format!("“{}”", excerpt(text, QUOTE_CHARS_MAX));
    match output {
        Value::String(text) => format!("{} characters, {}", text.chars().count(), quote(text)),
        Value::Array(values) => {
            let first = values.first().map(|first| quote(&first.to_string())).unwrap_or_default();
            format!("{} entries, {first}", values.len())
        }
        Value::Object(fields) => {
            let longest = fields.values().filter(|value| value.is_array() || value.is_string());
            let longest = longest.max_by_key(|value| value.to_string().len());
            let keys: Vec<&str> = fields.keys().map(String::as_str).collect();
            let keys = clip(&keys.join(", "), QUOTE_CHARS_MAX);
            longest.map_or_else(|| quote(&output.to_string()), |value| format!("{keys}: {}", digest(value)))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => output.to_string(),
    }
}

/// The pictures that are attached for an agent: the first stands right after the message, before its own.
pub(in crate::prompt) fn pictures_text(pictures: &[SavedPicture], marks: &Marks) -> String {
    let line = |picture: &SavedPicture| {
        let SavedPicture { step, agent, application, reason, .. } = picture;
        let shows = one_line(application);
        marks.told(&format!("- {shows} at step {step}, kept by {agent}: {}", one_line(reason)))
    };
    pictures.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A picture that a call of the agent returned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ZoomedPicture {
    pub(crate) step: u32,
    /// The call on one line.
    pub(crate) call: String,
    /// Which part of the window it shows, as the tool says it.
    pub(crate) place: String,
    pub(crate) picture: PictureRef,
}

/// The pictures that an agent asked for since its last question.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ZoomedPictures {
    /// Those that its next question shows.
    pub(crate) shown: Vec<ZoomedPicture>,
    /// Number of earlier pictures that the question omits.
    pub(crate) left_out: usize,
}

/// Renders the content of the pictures that an agent requested.
pub(in crate::prompt) fn zoomed_text(zoomed: &ZoomedPictures, marks: &Marks) -> String {
    let ZoomedPictures { shown, left_out } = zoomed;
    let line = |one: &ZoomedPicture| {
        let ZoomedPicture { step, call, place, .. } = one;
        marks.told(&one_line(&format!("- step {step}, {call}: {place}")))
    };
    let left_out =
        (*left_out > 0).then(|| format!("- {left_out} before these are left out; ask for them again"));
    left_out.into_iter().chain(shown.iter().map(line)).collect::<Vec<_>>().join("\n")
}

/// Renders the hits of retrievers within a limit of tokens: each with its source, its trust level, and its
/// score.
pub(in crate::prompt) fn hits_text(hits: &[Hit], tokens_max: usize, marks: &Marks) -> String {
    let mut left = tokens_max;
    let mut parts = Vec::new();
    for hit in hits {
        let Hit { retriever, trust, score, title, origin, .. } = hit;
        let head = format!("{}, from {} ({trust}, fits {score} of 1000)", one_line(title), one_line(origin));
        let text = clip(hit.text.trim(), HIT_CHARS_MAX);
        let Some(rest) = left.checked_sub(tokens(&head) + tokens(&text)) else { continue };
        left = rest;
        parts.push(marks.number(&untrusted(retriever.word(), &format!("{head}\n{text}"))));
    }
    if parts.len() < hits.len() {
        parts.push(format!("({} more hits are too long to be listed)", hits.len() - parts.len()));
    }
    parts.join("\n")
}

/// Renders the work of an agent before its sub-task: the results of earlier ones, where the list of sub-tasks
/// does not have them, and the last steps.
pub(in crate::prompt) fn past_text(memory: &AgentMemory, records: &[SubtaskRecord], marks: &Marks) -> String {
    let entry = |past: &PastWork| {
        let work = one_line(&past.work);
        let is_listed = records.iter().any(|record| record.subtask == past.work);
        let result = if is_listed {
            String::new()
        } else {
            format!(": {} — {}", past.status, one_line(&past.result))
        };
        let head = marks.line(format!("- “{work}”{result}"));
        let steps: Vec<String> = past.steps.iter().map(|step| marks.line(format!("  - {step}"))).collect();
        let text = std::iter::once(head.clone()).chain(steps).collect::<Vec<_>>().join("\n");
        HistoryEntry { text, brief: head, readings: Vec::new() }
    };
    let entries: Vec<HistoryEntry> = memory.past().map(entry).collect();
    let text = fitting_entries(&entries, 0, PAST_TOKENS_MAX, &mut InFull::default());
    if text.is_empty() { text } else { marks.number(&untrusted("tool results", &text)) }
}

/// Returns the blackboard's entries on a sub-task with these words, for an agent that works on its own: the
/// user's answers, agents' notes, and the results of sub-tasks, as far as they share a word with it.
pub(crate) fn context_for(
    blackboard: &Blackboard,
    records: &[SubtaskRecord],
    words: &[String],
) -> Vec<String> {
    let shares = |text: &String| {
        let own = relevant_words(std::iter::once(text.as_str()));
        own.iter().any(|word| words.contains(word))
    };
    let answers = blackboard.answers().map(|answer| match answer.step {
        None => {
            format!("The user said, asked “{}”: {}", one_line(&answer.question), one_line(&answer.answer))
        }
        Some(_) => format!("The user said during the work: {}", one_line(&answer.answer)),
    });
    let results = records.iter().filter(|record| record.status == SubtaskStatus::Finished).map(|record| {
        let result = clip(&one_line(&record.result), CONTEXT_CHARS_MAX);
        format!("Result of “{}”: {result}", one_line(&record.subtask))
    });
    let notes = blackboard.notes().map(|note| format!("Noted by {}: {}", note.agent, one_line(&note.text)));
    let mut left = CONTEXT_TOKENS_MAX;
    let related = results.chain(notes).filter(shares);
    let all: Vec<String> = answers.chain(related).collect();
    let fits = |text: &String| left.checked_sub(tokens(text)).map(|rest| left = rest).is_some();
    let mut fitting: Vec<String> = all.into_iter().rev().take_while(fits).collect();
    fitting.reverse();
    fitting
}
