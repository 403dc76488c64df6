//! Owners of sub-tasks.

use serde::{Deserialize, Serialize};

use crate::agent::{AgentRef, SubtaskWorker};
use deskhand_ui::{WindowInfo, ids::AgentId};

/// The owner of a sub-task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SubtaskOwner {
    /// A window's AppAgent.
    Window(WindowInfo),
    /// An agent without a window, with its name.
    Agent(AgentId, String),
}

impl SubtaskOwner {
    pub(super) fn worker(&self) -> SubtaskWorker {
        match self {
            Self::Window(window) => SubtaskWorker::Window(window.id),
            Self::Agent(id, _) => SubtaskWorker::Agent(*id),
        }
    }

    /// The agent in records and prompts.
    pub(super) fn agent(&self) -> AgentRef {
        match self {
            Self::Window(window) => {
                AgentRef::AppAgent { application: window.app.root.clone(), window: Some(window.id) }
            }
            Self::Agent(_, name) => AgentRef::Agent { name: name.clone() },
        }
    }

    /// Returns `true` if both refer to the same window of the same application, or to the same agent.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Window(one), Self::Window(two)) => one.id == two.id && one.app.root == two.app.root,
            (Self::Agent(one, _), Self::Agent(two, _)) => one == two,
            (Self::Window(_), Self::Agent(..)) | (Self::Agent(..), Self::Window(_)) => false,
        }
    }
}
