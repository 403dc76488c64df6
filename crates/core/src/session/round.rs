//! One request of the user, from the first look to its outcome.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    agent::AgentRef,
    model::{ModelFailure, ModelReply, Usage},
    money::{Cost, Money, Price},
};

/// How a sub-task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubtaskStatus {
    /// Done.
    Finished,
    /// Not done; the reason is the result.
    Failed,
    /// A person said no.
    Rejected,
    /// The system broke.
    Error,
}

impl fmt::Display for SubtaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => "FINISHED",
            Self::Failed => "FAILED",
            Self::Rejected => "REJECTED",
            Self::Error => "ERROR",
        })
    }
}

/// A sub-task that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubtaskRecord {
    /// The sub-task.
    pub subtask: String,
    /// The agent that worked on it.
    pub agent: AgentRef,
    /// How it ended.
    pub status: SubtaskStatus,
    /// What came of it, or why not.
    pub result: String,
}

/// What a round has used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Steps of all agents.
    pub steps: u32,
    /// Requests to the model, failed and repeated ones included.
    pub model_calls: u32,
    /// Commands that went out.
    pub calls: u32,
    /// Tokens read, as far as the provider said.
    pub prompt_tokens: u64,
    /// Tokens written, as far as the provider said.
    pub completion_tokens: u64,
    /// What the model cost.
    #[serde(default)]
    pub cost: Cost,
}

impl Tally {
    /// Adds a reply of the model, with all the requests that it took.
    pub fn add_reply(&mut self, reply: &ModelReply, price: Option<&Price>) {
        let cost = price.and_then(|price| price.of(reply.usage));
        self.add_requests(reply.attempts, reply.usage, cost);
    }

    /// Adds requests that the model did not answer. What no provider charges for costs nothing.
    pub fn add_model_failure(&mut self, failure: &ModelFailure, price: Option<&Price>) {
        let charged = price.and_then(|price| price.of(failure.usage));
        let free = (failure.attempts == 0 || !failure.kind.may_be_charged()).then_some(Money(0));
        self.add_requests(failure.attempts, failure.usage, charged.or(free));
    }

    fn add_requests(&mut self, attempts: u32, usage: Usage, cost: Option<Money>) {
        self.model_calls = self.model_calls.saturating_add(attempts);
        self.prompt_tokens = self.prompt_tokens.saturating_add(usage.prompt_tokens.unwrap_or(0));
        self.completion_tokens = self.completion_tokens.saturating_add(usage.completion_tokens.unwrap_or(0));
        self.cost.add(attempts, cost);
    }
}

/// What was used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Spent {
    pub(super) tally: Tally,
    /// Tokens that are taken to be used, because the provider did not say.
    pub(super) assumed_tokens: u64,
    /// Money likewise.
    pub(super) assumed_money: Money,
}
