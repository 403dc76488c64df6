//! Replays a journal: runs the machine against the recorded events and compares the effects with the recorded ones.
//!
//! Needs no desktop, model or network: the journal contains all input.

use deskhand_machine::{
    prompt::PromptSet,
    record::JournalRecord,
    session::{EffectRecord, Session},
};
use serde_json::Value;

use crate::journal::{JournalProblem, SessionJournal};

/// The first difference between a journal and its replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayDiff {
    /// The record number in the journal.
    pub seq: u64,
    /// The differing field: `effect.command.arguments.name`.
    pub field: String,
    /// The value in the journal.
    pub recorded: String,
    /// The value in the replay.
    pub replayed: String,
}

impl std::fmt::Display for ReplayDiff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "record {}, field `{}`: the journal has {}, the replay {}",
            self.seq, self.field, self.recorded, self.replayed
        )
    }
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// The number of equal effects.
    pub effects_equal: u64,
    /// `true` if the journal reaches the end of the session; it does not after a crash.
    pub complete: bool,
    /// The first difference, at which the replay stopped.
    pub difference: Option<ReplayDiff>,
}

/// Replays a journal with its own prompts.
pub fn replay(journal: &SessionJournal, prompts: PromptSet) -> Replay {
    let mut session = Session::new(journal.header.config.clone(), prompts);
    let mut replay = Replay { effects_equal: 0, complete: false, difference: None };
    let changed = journal.problems.iter().find_map(|problem| match problem {
        JournalProblem::Changed { seq } | JournalProblem::Forged { seq } => Some(*seq),
        JournalProblem::CutOff { .. } | JournalProblem::Truncated { .. } | JournalProblem::Lost { .. } => {
            None
        }
    });
    for line in &journal.lines {
        let found = match &line.record {
            JournalRecord::Header(_) => None,
            JournalRecord::Changed(change) => {
                session.change(change.config.clone(), change.prompts.clone());
                None
            }
            JournalRecord::Effect(recorded) => compare(line.seq, recorded, session.next()),
            JournalRecord::Event(event) => session.apply(event).err().map(|error| ReplayDiff {
                seq: line.seq,
                field: "event".to_owned(),
                recorded: "an applied event".to_owned(),
                replayed: error.to_string(),
            }),
        };
        let found = found.or_else(|| {
            (changed == Some(line.seq)).then(|| ReplayDiff {
                seq: line.seq,
                field: "(whole line)".to_owned(),
                recorded: "a modified line".to_owned(),
                replayed: "another hash or seal".to_owned(),
            })
        });
        if let Some(difference) = found {
            replay.difference = Some(difference);
            return replay;
        }
        if matches!(line.record, JournalRecord::Effect(_)) {
            replay.effects_equal += 1;
        }
    }
    replay.complete = session.next().is_none();
    replay
}

fn compare(seq: u64, recorded: &EffectRecord, wanted: Option<&EffectRecord>) -> Option<ReplayDiff> {
    let json = |record: &EffectRecord| serde_json::to_value(record).unwrap_or(Value::Null);
    let bytes = |record: &EffectRecord| serde_json::to_string(record).ok();
    // Byte for byte, including the order of fields.
    if wanted.is_some_and(|wanted| bytes(wanted) == bytes(recorded)) {
        return None;
    }
    let recorded = json(recorded);
    let Some(wanted) = wanted.map(json) else {
        return Some(ReplayDiff {
            seq,
            field: "effect".to_owned(),
            recorded: shown(&recorded),
            replayed: "nothing: the session ended".to_owned(),
        });
    };
    let (field, recorded, replayed) = first_difference(String::new(), &recorded, &wanted);
    Some(ReplayDiff { seq, field, recorded, replayed })
}

fn first_difference(path: String, left: &Value, right: &Value) -> (String, String, String) {
    match (left, right) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys()) {
                let (x, y) = (a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null));
                if x != y {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    return first_difference(path, x, y);
                }
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            for index in 0..a.len().max(b.len()) {
                let (x, y) = (a.get(index).unwrap_or(&Value::Null), b.get(index).unwrap_or(&Value::Null));
                if x != y {
                    return first_difference(format!("{path}[{index}]"), x, y);
                }
            }
        }
        (Value::String(a), Value::String(b)) => return (path, around(a, b), around(b, a)),
        _ => {}
    }
    (path, shown(left), shown(right))
}

fn shown(value: &Value) -> String {
    deskhand_ui::text::clip(&value.to_string(), 200)
}

/// The part of a text around its first difference from another.
fn around(text: &str, other: &str) -> String {
    const BEFORE: usize = 30;
    const SHOWN: usize = 120;
    let same = text.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let start = same.saturating_sub(BEFORE);
    let part: String = text.chars().skip(start).take(SHOWN).collect();
    let (head, tail) =
        (if start > 0 { "…" } else { "" }, if start + SHOWN < text.chars().count() { "…" } else { "" });
    format!("\"{head}{part}{tail}\" (at character {same})")
}
