//! Settings of limits, prices and verification.

use std::collections::BTreeMap;

use deskhand_machine::{
    blackboard::HistoryKey,
    money::{Money, PriceTable},
    session::{RoundLimits, SessionLimits, Verify},
};
use deskhand_model::{DollarPrice, known_prices};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// Settings for the cooperation of agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkSettings {
    /// Verification by the HostAgent of each sub-task that an AppAgent reports as done.
    pub verify: VerifySetting,
    /// Parts of a step that are put on the blackboard for other agents.
    #[schemars(extend("x-expects" = "a list of \"observation\", \"thought\", \"current_subtask\", \"status\", \"result\""))]
    pub history_keys: Vec<HistoryKeySetting>,
}

impl Default for WorkSettings {
    fn default() -> Self {
        Self { verify: VerifySetting::default(), history_keys: HistoryKeySetting::ALL.to_vec() }
    }
}

/// A part of a step that other agents are told, by the name of the reference implementation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HistoryKeySetting {
    /// Observation of the agent, in its own words.
    Observation,
    /// Its reasoning.
    Thought,
    /// The sub-task.
    CurrentSubtask,
    /// The status at the end of the step.
    Status,
    /// The calls, what came of them, and the result that the agent reports.
    Result,
}

impl HistoryKeySetting {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Observation, Self::Thought, Self::CurrentSubtask, Self::Status, Self::Result];

    /// The key for the session machine.
    pub const fn to_key(self) -> HistoryKey {
        match self {
            Self::Observation => HistoryKey::Observation,
            Self::Thought => HistoryKey::Thought,
            Self::CurrentSubtask => HistoryKey::CurrentSubtask,
            Self::Status => HistoryKey::Status,
            Self::Result => HistoryKey::Result,
        }
    }
}

/// Verification by the HostAgent of each sub-task that an AppAgent reports as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerifySetting {
    /// Always check; costs one more model call for each sub-task.
    Always,
    /// Check unless the effect of every action was seen, as the AppAgent expected it.
    #[default]
    Auto,
    /// Never check; trust the AppAgent.
    Never,
}

impl VerifySetting {
    /// The setting for the session machine.
    pub const fn to_verify(self) -> Verify {
        match self {
            Self::Always => Verify::Always,
            Self::Auto => Verify::Auto,
            Self::Never => Verify::Never,
        }
    }
}

/// The most that one request may use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// The most steps of all agents together.
    #[schemars(range(min = 1))]
    pub steps_max: u32,
    /// The most requests to the model, including failed and repeated ones.
    #[schemars(range(min = 1))]
    pub model_calls_max: u32,
    /// The most tokens, read and written. No limit by default.
    pub tokens_max: Option<u64>,
    /// The most money for the model, in US dollars. No limit by default. The price of the model must be known.
    pub cost_max: Option<f64>,
    /// The most minutes that a request may take. No limit by default.
    pub minutes_max: Option<u64>,
    /// Maximum number of further model requests after a reply that cannot be used.
    pub repairs_max: u32,
    /// Maximum number of consecutive sub-task failures before the request fails.
    #[schemars(range(min = 1))]
    pub subtask_failures_max: u32,
    /// The most tokens of one reply.
    #[schemars(range(min = 1))]
    pub completion_tokens_max: u32,
}

impl Default for LimitSettings {
    fn default() -> Self {
        let limits = RoundLimits::default();
        Self {
            steps_max: limits.steps_max,
            model_calls_max: limits.model_calls_max,
            tokens_max: limits.tokens_max,
            cost_max: None,
            minutes_max: limits.wall_ms_max.map(|ms| ms / 60_000),
            repairs_max: limits.repairs_max,
            subtask_failures_max: limits.subtask_failures_max,
            completion_tokens_max: limits.completion_tokens_max,
        }
    }
}

impl LimitSettings {
    /// The limits for the session machine.
    ///
    /// # Errors
    /// [`ConfigError::NotMoney`].
    pub fn to_limits(&self) -> Result<RoundLimits, ConfigError> {
        Ok(RoundLimits {
            steps_max: self.steps_max,
            model_calls_max: self.model_calls_max,
            tokens_max: self.tokens_max,
            money_max: money("limits.cost_max", self.cost_max)?,
            wall_ms_max: self.minutes_max.map(|minutes| minutes.saturating_mul(60_000)),
            repairs_max: self.repairs_max,
            subtask_failures_max: self.subtask_failures_max,
            completion_tokens_max: self.completion_tokens_max,
            ..RoundLimits::default()
        })
    }
}

/// The most that all requests of a session may use together. No limits by default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionLimitSettings {
    /// The most steps of all agents together.
    #[schemars(range(min = 1))]
    pub steps_max: Option<u32>,
    /// The most requests to the model, including failed and repeated ones.
    #[schemars(range(min = 1))]
    pub model_calls_max: Option<u32>,
    /// The most tokens, read and written.
    pub tokens_max: Option<u64>,
    /// The most money for the model, in US dollars.
    pub cost_max: Option<f64>,
    /// The most minutes that the requests may take together.
    pub minutes_max: Option<u64>,
}

impl SessionLimitSettings {
    /// The limits for the session machine.
    ///
    /// # Errors
    /// [`ConfigError::NotMoney`].
    pub fn to_limits(&self) -> Result<SessionLimits, ConfigError> {
        Ok(SessionLimits {
            steps_max: self.steps_max,
            model_calls_max: self.model_calls_max,
            tokens_max: self.tokens_max,
            money_max: money("session_limits.cost_max", self.cost_max)?,
            wall_ms_max: self.minutes_max.map(|minutes| minutes.saturating_mul(60_000)),
        })
    }
}

/// An optional amount in dollars.
fn money(key: &str, dollars: Option<f64>) -> Result<Option<Money>, ConfigError> {
    let to_money =
        |dollars| Money::from_dollars(dollars).ok_or_else(|| ConfigError::NotMoney { key: key.to_owned() });
    dollars.map(to_money).transpose()
}

/// The price of a model, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PriceSettings {
    /// The price of tokens read.
    pub prompt: Option<f64>,
    /// The price of tokens read from the provider's cache. By default that of other tokens read.
    pub cached: Option<f64>,
    /// The price of tokens written.
    pub completion: Option<f64>,
}

/// The built-in prices, overridden by those of the configuration.
///
/// # Errors
/// [`ConfigError::Price`] if a price is incomplete or not an amount.
pub fn price_table(own: &BTreeMap<String, PriceSettings>) -> Result<PriceTable, ConfigError> {
    let mut table = known_prices();
    let wrong = |problem| ConfigError::Price { problem };
    for (model, price) in own {
        let (Some(prompt), Some(completion)) = (price.prompt, price.completion) else {
            return Err(wrong(format!("prices.{model} needs both `prompt` and `completion`")));
        };
        let price = DollarPrice { prompt, cached: price.cached, completion }.to_price();
        let price = price.ok_or_else(|| wrong(format!("prices.{model} has an amount that is not valid")))?;
        table.models.insert(model.clone(), price);
    }
    Ok(table)
}
