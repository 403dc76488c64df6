//! What a session did, by its journal, by the files on disk and by what the commands say.

use std::{fs, process::Output};

use serde_json::Value;

use super::place::{Place, WORDS};

/// The journal of the only session; `None` if there is none.
pub(super) fn journal(place: &Place) -> Option<String> {
    let folder =
        fs::read_dir(place.sessions()).ok()?.filter_map(Result::ok).map(|entry| entry.path()).next()?;
    let bytes = fs::read(folder.join("journal.jsonl")).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The complete records.
fn records(journal: &str) -> Vec<Value> {
    journal.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// A text in a record; empty if there is none.
fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns `true` if the session has come to its end.
pub(super) fn has_ended(journal: &str) -> bool {
    records(journal).last().is_some_and(|line| text(line, "/record/event/came") == "ended")
}

/// Returns `true` if its last request finished.
pub(super) fn has_finished(journal: &str) -> bool {
    let records = records(journal);
    let mut ends = records.iter().rev().filter(|line| text(line, "/record/effect/want") == "finish");
    ends.next().is_some_and(|line| text(line, "/record/effect/outcome/kind") == "finished")
}

/// Side effects that happened more often than they were dispatched, or more often than a careful model asks for them.
pub(super) fn repeated(place: &Place, journal: &str) -> Vec<String> {
    let records = records(journal);
    let mut wrong = Vec::new();
    for (word, file) in WORDS.into_iter().zip([place.note(), place.log(), place.note()]) {
        let done = fs::read_to_string(&file).unwrap_or_default().matches(word).count();
        let is_call = |line: &&Value| {
            let arguments = line.pointer("/record/effect/command/arguments");
            text(line, "/record/effect/want") == "call"
                && arguments.is_some_and(|arguments| arguments.to_string().contains(word))
        };
        let dispatched = records.iter().filter(is_call).count();
        if done > dispatched || done > 1 {
            wrong.push(format!("`{word}` is there {done} times and was dispatched {dispatched} times"));
        }
    }
    wrong
}

/// Returns `true` if everything that the request asks for is on the disk.
pub(super) fn is_complete(place: &Place) -> bool {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let (note, log) = (read(place.note()), read(place.log()));
    [(&note, WORDS[0]), (&log, WORDS[1]), (&note, WORDS[2])]
        .iter()
        .all(|(text, word)| text.matches(word).count() == 1)
}

/// Returns `true` if the session claims that every command had its effect.
pub(super) fn claims_all(journal: &str) -> bool {
    let records = records(journal);
    let mut results = records.iter().filter(|line| text(line, "/record/event/came") == "returned");
    results.all(|line| text(line, "/record/event/result/effect") == "seen")
}

/// What `deskhand verify --json` found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verified {
    /// Nothing is wrong.
    Intact,
    /// The last record is incomplete, and nothing else is wrong.
    CutOff,
    /// There is no session, or no complete record of it.
    NoRecord(String),
    /// Something else.
    Wrong(String),
}

impl Verified {
    pub(super) fn of(output: &Output, messages: &str) -> Self {
        let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let findings: Vec<&str> = found
            .get("findings")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        match (output.status.code(), findings.as_slice()) {
            (Some(0), []) => Self::Intact,
            (Some(1), [only]) if only.contains("truncated during a write") => Self::CutOff,
            (Some(1), []) if messages.contains("no session") || messages.contains("no complete record") => {
                Self::NoRecord(messages.trim().to_owned())
            }
            (code, findings) => {
                Self::Wrong(format!("verify ended with {code:?}: {findings:?} {}", messages.trim()))
            }
        }
    }
}

/// The outcome of a session that was run or resumed: its kind and reason.
pub(super) fn outcome(output: &[u8]) -> Option<(String, String)> {
    let printed = String::from_utf8_lossy(output);
    let last: Value = serde_json::from_str(printed.lines().last()?).ok()?;
    let is_summary = text(&last, "/kind") == "summary";
    is_summary.then(|| (text(&last, "/outcome").to_owned(), text(&last, "/reason").to_owned()))
}
