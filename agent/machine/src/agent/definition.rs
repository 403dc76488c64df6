//! Agents without a window, as data, so that core needs no code for a kind of agent.
//!
//! The definition is stored in the journal's header, so a session can be replayed and forked where the agent's code is
//! not available.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{command::ToolSpec, session::SubtaskStatus, states::AppStatus};
use deskhand_ui::ids::AgentId;

/// The longest introduction of an agent, in characters. What is longer is clipped when the agent is opened, and in every prompt.
pub const INTRODUCTION_CHARS_MAX: usize = 1_000;

/// An agent without a window that sub-tasks can be assigned to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentDefinition {
    /// Its id, unique in the session.
    pub id: AgentId,
    /// Its name, equal to that of its registered kind.
    pub name: String,
    /// Capabilities, in a sentence or two for the HostAgent.
    pub introduction: String,
    /// Who drives it.
    pub home: AgentHome,
}

/// Who drives an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "lives", rename_all = "snake_case")]
pub enum AgentHome {
    /// This machine: its steps have the four phases, like those of an AppAgent.
    Steps(Box<AgentSteps>),
    /// Another program: it receives the sub-task and reports the result.
    Delegate,
    /// Another machine: like a delegate, but work there goes on whatever becomes of this program. A sub-task that is handed over once
    /// more under its number is the same one, so a resumed session waits for it again.
    Machine,
}

impl AgentHome {
    /// Returns `true` if sub-tasks are handed over, and only a report comes back.
    pub const fn reports(&self) -> bool {
        match self {
            Self::Steps(_) => false,
            Self::Delegate | Self::Machine => true,
        }
    }
}

/// An agent driven by this machine: its statuses, prompts and tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSteps {
    /// Its statuses. A sub-task starts in the first one.
    pub statuses: Vec<AgentStatus>,
    /// Its instructions; `instructions` in the default system prompt.
    pub instructions: String,
    /// Template of its system prompt. Variables: `name`, `instructions`, `statuses`, `tools`.
    pub system_prompt: String,
    /// Template of its user prompt. Variables: those of the default one.
    pub user_prompt: String,
    /// Its tools.
    pub tools: Vec<ToolSpec>,
    /// The most steps per sub-task, in addition to the round's limit; `None` for no limit of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtask_steps_max: Option<u32>,
}

/// A status of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentStatus {
    /// The word, such as `PRINTING`.
    pub word: String,
    /// Its meaning to the machine; never `Error`, which is reserved for the system.
    pub meaning: AppStatus,
    /// When to use it, for the model.
    pub description: String,
    /// The statuses that may follow; empty for any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
}

/// The system prompt of agents without their own.
pub const AGENT_SYSTEM_PROMPT: &str = include_str!("../../prompts/agent_system.md");
/// The user prompt of agents without their own.
pub const AGENT_USER_PROMPT: &str = include_str!("../../prompts/agent_user.md");

/// The report of a delegate agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReport {
    /// Final status of the sub-task.
    pub status: SubtaskStatus,
    /// The result, or the reason for a failure.
    pub result: String,
}

/// An invalid agent definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// A required status is missing.
    #[error("agent `{agent}` has no status that means {meaning}")]
    NoStatus {
        /// The agent.
        agent: String,
        /// The missing meaning.
        meaning: AppStatus,
    },
    /// A status is invalid.
    #[error("status `{word}` of agent `{agent}` {problem}")]
    Status {
        /// The agent.
        agent: String,
        /// The word.
        word: String,
        /// The problem.
        problem: &'static str,
    },
    /// Two tools have the same name.
    #[error("agent `{agent}` has two tools named `{tool}`")]
    DuplicateTool {
        /// The agent.
        agent: String,
        /// The name.
        tool: String,
    },
}

impl AgentDefinition {
    /// Checks what the types do not enforce.
    ///
    /// # Errors
    /// [`DefinitionError`] names the status or tool.
    pub fn check(&self) -> Result<(), DefinitionError> {
        let AgentHome::Steps(steps) = &self.home else { return Ok(()) };
        let mut words = BTreeSet::new();
        for status in &steps.statuses {
            let problem = match () {
                () if fold(&status.word).is_empty() => Some("contains no letters"),
                () if status.meaning == AppStatus::Error => {
                    Some("means ERROR, which is reserved for the system")
                }
                () if !words.insert(fold(&status.word)) => Some("is defined twice"),
                () if status.next.iter().any(|next| steps.status(next).is_none()) => {
                    Some("may be followed by an undefined status")
                }
                () => None,
            };
            if let Some(problem) = problem {
                let (agent, word) = (self.name.clone(), status.word.clone());
                return Err(DefinitionError::Status { agent, word, problem });
            }
        }
        for meaning in [AppStatus::Continue, AppStatus::Finish, AppStatus::Fail] {
            if !steps.statuses.iter().any(|status| status.meaning == meaning) {
                return Err(DefinitionError::NoStatus { agent: self.name.clone(), meaning });
            }
        }
        let mut tools = BTreeSet::new();
        match steps.tools.iter().find(|tool| !tools.insert(&tool.name)) {
            Some(tool) => {
                Err(DefinitionError::DuplicateTool { agent: self.name.clone(), tool: tool.name.clone() })
            }
            None => Ok(()),
        }
    }
}

impl AgentSteps {
    /// The status with this word, ignoring case and punctuation.
    pub fn status(&self, word: &str) -> Option<&AgentStatus> {
        let folded = fold(word);
        self.statuses.iter().find(|status| fold(&status.word) == folded)
    }

    /// The statuses that may follow `word`; all of them for `None`.
    pub fn words_after(&self, word: Option<&str>) -> Vec<&str> {
        let next = word.and_then(|word| self.status(word)).map(|status| status.next.as_slice());
        match next {
            Some(next) if !next.is_empty() => next.iter().map(String::as_str).collect(),
            Some(_) | None => self.statuses.iter().map(|status| status.word.as_str()).collect(),
        }
    }
}

/// Normalizes a word for comparison: models write `Done.` and `in progress` for `DONE` and `IN_PROGRESS`.
fn fold(word: &str) -> String {
    word.trim()
        .trim_matches(['"', '\'', '.', '*', '`'])
        .chars()
        .map(|c| if c == ' ' || c == '-' { '_' } else { c.to_ascii_uppercase() })
        .collect()
}

/// The statuses of AppAgents, for agents that need no others.
pub fn usual_statuses() -> Vec<AgentStatus> {
    let of = |meaning: AppStatus, description: &str| AgentStatus {
        word: meaning.to_string(),
        meaning,
        description: description.to_owned(),
        next: Vec::new(),
    };
    vec![
        of(AppStatus::Continue, "run the actions and continue with their results."),
        of(AppStatus::Finish, "the sub-task is done once these actions succeed."),
        of(AppStatus::Fail, "the sub-task cannot be done here. Say why in `result`."),
        of(AppStatus::Pending, "you need an answer that only the user has."),
        of(
            AppStatus::Confirm,
            "the actions are dangerous or cannot be undone; they run only if the user approves.",
        ),
    ]
}
