//! Agents that own no window, as data: what a kind of agent yields, so that core needs no code of it.
//!
//! The definition stands in the journal's header. A session that an agent took part in can therefore be replayed
//! and forked where the agent's code is not there.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{command::ToolSpec, ids::AgentId, session::SubtaskStatus, states::AppStatus};

/// An agent that sub-tasks can be assigned to and that owns no window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentDefinition {
    /// Its id, unique in the session.
    pub id: AgentId,
    /// Its name: that of its kind, under which it was registered.
    pub name: String,
    /// What it is good for, in a sentence or two that the HostAgent reads.
    pub introduction: String,
    /// Where it lives.
    pub home: AgentHome,
}

/// Where an agent lives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "lives", rename_all = "snake_case")]
pub enum AgentHome {
    /// In this machine: its steps run down the four phases like an AppAgent's.
    Steps(Box<AgentSteps>),
    /// Elsewhere: it is handed the sub-task and reports what came of it.
    Delegate,
}

/// An agent whose steps this machine drives: its own statuses, prompts and tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSteps {
    /// The words that it may say. It starts a sub-task in the first one.
    pub statuses: Vec<AgentStatus>,
    /// Who it is and what it must heed; stands in the default system prompt as `instructions`.
    pub instructions: String,
    /// The template of its instructions. Names: `name`, `instructions`, `statuses`, `tools`.
    pub system_prompt: String,
    /// The template of what it is given at each step. Names: those of the default one.
    pub user_prompt: String,
    /// Its tools.
    pub tools: Vec<ToolSpec>,
    /// The most steps on one sub-task, below the round's own limit; none for that one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtask_steps_max: Option<u32>,
}

/// A word that an agent may say of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentStatus {
    /// The word: `PRINTING`.
    pub word: String,
    /// What the machine does with it; never `Error`, which is the system's.
    pub meaning: AppStatus,
    /// When to say it, for the model.
    pub description: String,
    /// The words that may follow; empty for any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
}

/// The system prompt of agents that bring none of their own.
pub const AGENT_SYSTEM_PROMPT: &str = include_str!("../../prompts/agent_system.md");
/// The user prompt of agents that bring none of their own.
pub const AGENT_USER_PROMPT: &str = include_str!("../../prompts/agent_user.md");

/// What came back from an agent that lives elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReport {
    /// How the sub-task ended.
    pub status: SubtaskStatus,
    /// What came of it, or why not.
    pub result: String,
}

/// A definition that no session can be run with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// Without it the agent cannot do its part.
    #[error("no status of the agent `{agent}` means {meaning}")]
    NoStatus {
        /// The agent.
        agent: String,
        /// What is missing.
        meaning: AppStatus,
    },
    /// A status that cannot be.
    #[error("the status `{word}` of the agent `{agent}` {problem}")]
    Status {
        /// The agent.
        agent: String,
        /// The word.
        word: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Two tools with one name.
    #[error("the agent `{agent}` has two tools `{tool}`")]
    DuplicateTool {
        /// The agent.
        agent: String,
        /// The name.
        tool: String,
    },
}

impl AgentDefinition {
    /// Checks what the types leave open.
    ///
    /// # Errors
    /// [`DefinitionError`] names the status or tool.
    pub fn check(&self) -> Result<(), DefinitionError> {
        let AgentHome::Steps(steps) = &self.home else { return Ok(()) };
        let mut words = BTreeSet::new();
        for status in &steps.statuses {
            let problem = match () {
                () if fold(&status.word).is_empty() => Some("has no letters"),
                () if status.meaning == AppStatus::Error => Some("means ERROR, which no model may say"),
                () if !words.insert(fold(&status.word)) => Some("is there twice"),
                () if status.next.iter().any(|next| steps.status(next).is_none()) => {
                    Some("is followed by a word that is no status")
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
    /// The status of that word, however it is written.
    pub fn status(&self, word: &str) -> Option<&AgentStatus> {
        let folded = fold(word);
        self.statuses.iter().find(|status| fold(&status.word) == folded)
    }

    /// The words that may be said after another one; all before the first.
    pub fn words_after(&self, word: Option<&str>) -> Vec<&str> {
        let next = word.and_then(|word| self.status(word)).map(|status| status.next.as_slice());
        match next {
            Some(next) if !next.is_empty() => next.iter().map(String::as_str).collect(),
            Some(_) | None => self.statuses.iter().map(|status| status.word.as_str()).collect(),
        }
    }
}

/// A word as it is compared: models write `Done.` and `in progress` for `DONE` and `IN_PROGRESS`.
fn fold(word: &str) -> String {
    word.trim()
        .trim_matches(['"', '\'', '.', '*', '`'])
        .chars()
        .map(|c| if c == ' ' || c == '-' { '_' } else { c.to_ascii_uppercase() })
        .collect()
}

/// The words of every AppAgent, for agents that need no others.
pub fn usual_statuses() -> Vec<AgentStatus> {
    let of = |meaning: AppStatus, description: &str| AgentStatus {
        word: meaning.to_string(),
        meaning,
        description: description.to_owned(),
        next: Vec::new(),
    };
    vec![
        of(AppStatus::Continue, "run the actions and go on with what they return."),
        of(AppStatus::Finish, "the sub-task is done once these actions succeed."),
        of(AppStatus::Fail, "the sub-task cannot be done here. Say why in `result`."),
        of(AppStatus::Pending, "you need an answer of the user that nothing here gives. Ask only then."),
        of(
            AppStatus::Confirm,
            "the actions are dangerous or cannot be undone; they run only when the user approves.",
        ),
    ]
}
