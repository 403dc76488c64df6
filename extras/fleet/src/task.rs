//! Tasks to do, and their requirements on a machine.

use std::{collections::BTreeSet, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    plan::{ForEach, TaskRetryPolicy},
    signature::FleetSignature,
};

/// The longest id of a task or plan, in bytes. Ids are parts of subjects and keys.
const ID_BYTES_MAX: usize = 100;

/// The id of a task: unique in the fleet. Copies share the text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId(Arc<str>);

/// An id that cannot be a part of a subject.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the id {id:?} of a task is not 1 to {ID_BYTES_MAX} letters, digits, `-` and `_` of ASCII")]
pub struct IdError {
    id: String,
}

/// Returns `true` if a text can be a part of a subject: letters and digits of ASCII, `-` and `_`.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

impl TaskId {
    /// The id of a text.
    ///
    /// # Errors
    /// It has other characters than letters and digits of ASCII, `-` and `_`, or is empty or longer than 100 bytes.
    pub fn new(id: impl Into<String>) -> Result<Self, IdError> {
        let id = id.into();
        if id.len() > ID_BYTES_MAX || !is_plain(&id) {
            return Err(IdError { id });
        }
        Ok(Self(id.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TaskId {
    type Error = IdError;

    fn try_from(id: String) -> Result<Self, IdError> {
        Self::new(id)
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.as_str().to_owned()
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Requirements of a task on the machine that does it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaskRequirements {
    /// Applications, by the names of their desktop entries.
    pub applications: BTreeSet<String>,
    /// Width and height of the desktop, in pixels.
    pub desktop: Option<(u16, u16)>,
    /// Kinds of agents.
    pub agents: BTreeSet<String>,
    /// Words that a worker was started with.
    pub labels: BTreeSet<String>,
}

/// Features that a machine offers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineCapabilities {
    /// Applications, by the names of their desktop entries.
    pub applications: BTreeSet<String>,
    /// The largest desktop, in pixels; `None` for any.
    pub desktop: Option<(u16, u16)>,
    /// Kinds of agents.
    pub agents: BTreeSet<String>,
    /// Its words.
    pub labels: BTreeSet<String>,
}

impl MachineCapabilities {
    /// Returns `true` if the machine has all that is needed.
    pub fn has(&self, needs: &TaskRequirements) -> bool {
        let fits = match (needs.desktop, self.desktop) {
            (Some((width, height)), Some((most_wide, most_high))) => {
                width <= most_wide && height <= most_high
            }
            (Some(_) | None, None) | (None, Some(_)) => true,
        };
        fits && needs.applications.is_subset(&self.applications)
            && needs.agents.is_subset(&self.agents)
            && needs.labels.is_subset(&self.labels)
    }
}

/// The treatment of a task whose holder was lost while it acted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLoss {
    /// Another one goes on from the journal, and its agents hear what may have been done.
    #[default]
    Resume,
    /// Another one begins anew.
    Afresh,
    /// A person decides: what was done cannot be done again.
    Person,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSpec {
    /// Its id.
    pub id: TaskId,
    /// Tasks that have to be finished before.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub after: BTreeSet<TaskId>,
    /// Requirements on the machine.
    #[serde(default)]
    pub needs: TaskRequirements,
    /// From 0 to 9; of tasks that may begin, the ones with the highest do.
    #[serde(default)]
    pub priority: u8,
    /// The treatment of the task when its holder is lost.
    #[serde(default)]
    pub on_loss: OnLoss,
    /// Maximum number of times it may be taken. After that many without an outcome, it is put aside.
    #[serde(default = "taken_max")]
    pub taken_max: u32,
    /// Tasks with one of these labels count for its limit.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub labels: BTreeSet<String>,
    /// The batch whose budget it counts for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// When it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<TaskRetryPolicy>,
    /// When it is too late, in milliseconds since 1970: then it does not begin, and if it runs, it is stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// The table of which it stands for all rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_each: Option<ForEach>,
    /// The task that stands for all rows, if this is that of one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_of: Option<TaskId>,
    /// The work to do: for the worker alone.
    #[serde(default)]
    pub work: serde_json::Value,
    /// Who submitted it; `None` if it is not signed. It covers all the other fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<FleetSignature>,
}

const fn taken_max() -> u32 {
    5
}

impl TaskSpec {
    /// A task that anybody can do at once.
    pub fn new(id: TaskId) -> Self {
        Self {
            id,
            after: BTreeSet::new(),
            needs: TaskRequirements::default(),
            priority: 0,
            on_loss: OnLoss::default(),
            taken_max: taken_max(),
            labels: BTreeSet::new(),
            batch: None,
            retry: None,
            deadline_ms: None,
            for_each: None,
            row_of: None,
            work: serde_json::Value::Null,
            signed: None,
        }
    }
}

/// The record of a task in the fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRecord {
    /// The task.
    pub spec: TaskSpec,
    /// Number of times it was put into the queue.
    #[serde(default)]
    pub released: u32,
}

impl TaskRecord {
    /// The record of the task `id`; `None` if it cannot be read, or if somebody stored another task under this id.
    pub fn stored_as(id: &TaskId, value: &[u8]) -> Option<Self> {
        serde_json::from_slice(value).ok().filter(|record: &Self| record.spec.id == *id)
    }
}
