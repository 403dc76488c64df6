//! The record of a round.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    agent::AgentRef,
    model::{ModelFailure, ModelReply, Usage},
    money::{Cost, Money, Price},
};

/// Outcome of a sub-task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubtaskStatus {
    /// Done.
    Finished,
    /// Not done; the reason is the result.
    Failed,
    /// A person rejected an action.
    Rejected,
    /// A system error.
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
    /// Outcome of the sub-task.
    pub status: SubtaskStatus,
    /// The result, or the reason for the failure.
    pub result: String,
}

/// The resources used by a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RoundTally {
    /// Steps of all agents.
    pub steps: u32,
    /// Model requests, including failed ones and retries.
    pub model_calls: u32,
    /// Commands sent.
    pub calls: u32,
    /// Input tokens, as far as reported.
    pub prompt_tokens: u64,
    /// Of these, tokens from the provider's cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Output tokens, as far as reported.
    pub completion_tokens: u64,
    /// Cost of model calls.
    #[serde(default)]
    pub cost: Cost,
}

impl RoundTally {
    /// Adds a reply of the model with all its requests.
    pub fn add_reply(&mut self, reply: &ModelReply, price: Option<&Price>) {
        let cost = price.and_then(|price| price.of(reply.usage));
        self.add_requests(reply.attempts, reply.usage, cost);
    }

    /// Adds failed requests. Those that no provider charges for cost nothing.
    pub fn add_model_failure(&mut self, failure: &ModelFailure, price: Option<&Price>) {
        let charged = price.and_then(|price| price.of(failure.usage));
        let free = (failure.attempts == 0 || !failure.kind.may_be_charged()).then_some(Money(0));
        self.add_requests(failure.attempts, failure.usage, charged.or(free));
    }

    fn add_requests(&mut self, attempts: u32, usage: Usage, cost: Option<Money>) {
        self.model_calls = self.model_calls.saturating_add(attempts);
        self.prompt_tokens = self.prompt_tokens.saturating_add(usage.prompt_tokens.unwrap_or(0));
        self.cached_tokens = self.cached_tokens.saturating_add(usage.cached_tokens.unwrap_or(0));
        self.completion_tokens = self.completion_tokens.saturating_add(usage.completion_tokens.unwrap_or(0));
        self.cost.add(attempts, cost);
    }
}

/// Used budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct SpentBudget {
    pub(super) tally: RoundTally,
    /// Tokens charged by the upper bound, because the provider did not report them.
    pub(super) assumed_tokens: u64,
    /// Money charged by the upper bound.
    pub(super) assumed_money: Money,
}
