//! Journal of the work on a task so far.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{plan::TaskAttempt, task::TaskId};

/// The name of a worker's process: another one each time that it starts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkerId(pub String);

/// The end of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum TaskOutcome {
    /// A worker did it to its end, which need not be a success.
    Done {
        /// The result, in the words of the worker.
        result: serde_json::Value,
        /// `true` if tasks that come after it may begin.
        finished: bool,
    },
    /// The task cannot be done, here or elsewhere.
    Failed {
        /// Why.
        reason: String,
    },
    /// No worker accepts it: who submitted it, or what it asks for, is not allowed.
    Refused {
        /// Why.
        reason: String,
    },
    /// The task was put aside with its journal: taken too often without an outcome.
    DeadLetter {
        /// Why.
        reason: String,
    },
    /// A person has to decide: it may have been done in part, and cannot be done again.
    Person {
        /// Description of the open decision.
        reason: String,
    },
    /// The task was cancelled before it was done.
    Cancelled,
    /// The task was never begun: a task that has to be finished before ended otherwise.
    Blocked {
        /// Which one.
        by: TaskId,
    },
    /// The task did not begin in time.
    Expired {
        /// The deadline it missed.
        reason: String,
    },
    /// The task was never begun: the budget of its batch was reached.
    OverBudget {
        /// Which limit.
        reason: String,
    },
}

/// A part of what a holder wrote: the parts of a journal one after the other are the whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskJournalChunk {
    /// Lines of the session, the last one up to the action. A line that is too long for one part is divided.
    pub lines: String,
    /// Files that are new or have changed, by their names: the hashes under which they are stored.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

impl From<String> for TaskJournalChunk {
    fn from(lines: String) -> Self {
        Self { lines, files: BTreeMap::new() }
    }
}

/// An entry of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum TaskJournalEntry {
    /// A worker has it from here on.
    Taken {
        /// Which one.
        worker: WorkerId,
    },
    /// An action is about to be done: what follows it in the world may have happened if nothing follows it here.
    Acts(TaskJournalChunk),
    /// Messages and events, including the answer to an action.
    Lines(TaskJournalChunk),
    /// Earlier entries no longer count: the holder begins again.
    Afresh,
    /// The task did not finish, and is retried: earlier entries no longer count.
    Again(TaskAttempt),
    /// The outcome. Nothing follows it.
    Ended {
        /// The outcome.
        outcome: TaskOutcome,
    },
}

/// A journal as far as it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskJournalEntries {
    entries: Vec<TaskJournalEntry>,
}

impl TaskJournalEntries {
    /// The journal of these entries.
    pub const fn new(entries: Vec<TaskJournalEntry>) -> Self {
        Self { entries }
    }

    /// Its entries.
    pub fn entries(&self) -> &[TaskJournalEntry] {
        &self.entries
    }

    /// The outcome, if it has one.
    pub fn outcome(&self) -> Option<&TaskOutcome> {
        match self.entries.last() {
            Some(TaskJournalEntry::Ended { outcome }) => Some(outcome),
            Some(
                TaskJournalEntry::Taken { .. }
                | TaskJournalEntry::Acts(_)
                | TaskJournalEntry::Lines(_)
                | TaskJournalEntry::Afresh
                | TaskJournalEntry::Again(_),
            )
            | None => None,
        }
    }

    /// Returns the entries of its holders, one after the other, with the last state of the files. Only entries
    /// since the task was last begun again are included.
    pub fn whole(&self) -> TaskJournalChunk {
        let mut whole = TaskJournalChunk::default();
        for entry in &self.entries {
            match entry {
                TaskJournalEntry::Acts(part) | TaskJournalEntry::Lines(part) => {
                    whole.lines.push_str(&part.lines);
                    whole.files.extend(part.files.clone());
                }
                TaskJournalEntry::Afresh | TaskJournalEntry::Again(_) => whole = TaskJournalChunk::default(),
                TaskJournalEntry::Taken { .. } | TaskJournalEntry::Ended { .. } => {}
            }
        }
        whole
    }

    /// Returns the number of its holders that were lost.
    pub fn lost(&self) -> usize {
        let count =
            |is_one: fn(&TaskJournalEntry) -> bool| self.entries.iter().filter(|entry| is_one(entry)).count();
        let ended =
            count(|entry| matches!(entry, TaskJournalEntry::Again(_) | TaskJournalEntry::Ended { .. }));
        count(|entry| matches!(entry, TaskJournalEntry::Taken { .. })).saturating_sub(ended)
    }

    /// Returns `true` if an action was begun in the last try.
    pub fn has_acted(&self) -> bool {
        let last_try =
            self.entries.iter().rev().take_while(|entry| !matches!(entry, TaskJournalEntry::Again(_)));
        last_try.into_iter().any(|entry| matches!(entry, TaskJournalEntry::Acts(_)))
    }

    /// Returns `true` if nothing was done yet in the try that is the next or last one.
    pub fn is_new(&self) -> bool {
        let last = self
            .entries
            .iter()
            .rev()
            .find(|entry| !matches!(entry, TaskJournalEntry::Taken { .. } | TaskJournalEntry::Afresh));
        matches!(last, Some(TaskJournalEntry::Again(_)) | None)
    }

    /// Returns `true` if an action was begun and nothing says that it was done. Being taken over is no answer.
    pub fn is_acting(&self) -> bool {
        let last = self
            .entries
            .iter()
            .rev()
            .find(|entry| !matches!(entry, TaskJournalEntry::Taken { .. } | TaskJournalEntry::Afresh));
        matches!(last, Some(TaskJournalEntry::Acts(_)))
    }
}
