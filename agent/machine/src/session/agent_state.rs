//! The state of agents in a session.

use serde::{Deserialize, Serialize};

use super::{shown::PromptViewHistory, stall::Stall, verify::Doubt};
use crate::{
    agent::{AgentRef, SubtaskWorker},
    memory::AgentMemory,
    prompt::relevant_words,
    retrieval::Hit,
    states::{AppStatus, HostStatus, HostTrigger, next_host},
};
use deskhand_ui::{
    WindowInfo,
    ids::{AgentId, ElementId},
};

/// The owner of a sub-task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Owner {
    /// A window's AppAgent.
    Window(WindowInfo),
    /// An agent without a window, with its name.
    Agent(AgentId, String),
}

impl Owner {
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

/// An agent that works on sub-tasks. Cached by its owner: it keeps its memory across sub-tasks. An AppAgent is dropped
/// when its window closes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AppAgent {
    pub(super) owner: Owner,
    pub(super) status: AppStatus,
    /// Its last status word on the current sub-task.
    pub(super) word: Option<String>,
    pub(super) memory: AgentMemory,
    pub(super) subtask: String,
    pub(super) message: Vec<String>,
    /// The first step of the current sub-task.
    pub(super) first_step: u32,
    /// Consecutive SCREENSHOT steps.
    pub(super) screenshots: u32,
    /// Set if its next question includes the picture even if that is unchanged.
    #[serde(default)]
    pub(super) picture_wanted: bool,
    /// The elements to annotate in its next observation; `None` for all.
    pub(super) marks: Option<Vec<ElementId>>,
    /// Why its last actions on the current sub-task do not verify it.
    pub(super) doubt: Option<Doubt>,
    pub(super) stall: Stall,
    /// Content of its window that it has received in this sub-task.
    #[serde(default)]
    pub(super) shown: PromptViewHistory,
    /// The notice for its next step.
    pub(super) notice: String,
    /// Hits of retrievers for its sub-task; `None` if they were not queried yet.
    #[serde(default)]
    pub(super) hits: Option<Vec<Hit>>,
    /// The last step of which it was shown what others kept for it as a picture.
    #[serde(default)]
    pub(super) pictures_to: u32,
}

impl AppAgent {
    /// Keywords for what is relevant to it.
    pub(super) fn words(&self) -> Vec<String> {
        relevant_words(std::iter::once(&self.subtask).chain(&self.message).map(String::as_str))
    }
}

/// The HostAgent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct HostAgent {
    pub(super) status: HostStatus,
    pub(super) memory: AgentMemory,
    pub(super) stall: Stall,
    /// The notice for its next step.
    pub(super) notice: String,
    /// Hits of retrievers for the request; `None` if they were not queried yet.
    #[serde(default)]
    pub(super) hits: Option<Vec<Hit>>,
    /// The last step of which it was shown what others kept for it as a picture.
    #[serde(default)]
    pub(super) pictures_to: u32,
}

impl Default for HostAgent {
    fn default() -> Self {
        Self {
            status: HostStatus::Continue,
            memory: AgentMemory::default(),
            stall: Stall::default(),
            notice: String::new(),
            hits: None,
            pictures_to: 0,
        }
    }
}

impl HostAgent {
    /// Resets for a new round, keeping its memory.
    pub(super) fn begin_round(&mut self) {
        let (mut memory, pictures_to) = (std::mem::take(&mut self.memory), self.pictures_to);
        memory.begin();
        *self = Self { memory, pictures_to, ..Self::default() };
    }

    pub(super) fn moves(&mut self, trigger: HostTrigger) -> HostStatus {
        self.status = next_host(self.status, trigger);
        self.status
    }
}

/// A sub-task in progress at a delegate agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Delegation {
    pub(super) agent: AgentId,
    /// The agent's name.
    pub(super) name: String,
    pub(super) subtask: String,
}
