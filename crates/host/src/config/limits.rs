//! What agents may use up and how they check each other: limits of a session, prices, verification.

use std::collections::BTreeMap;

use deskhand_core::{
    money::{Money, PriceTable},
    session::{Limits, SessionLimits, Verify},
};
use deskhand_model::{DollarPrice, known_prices};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// How agents work together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkSettings {
    /// Whether the HostAgent judges what an AppAgent says is done.
    pub verify: VerifySetting,
}

/// Whether the HostAgent judges what an AppAgent says is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerifySetting {
    /// It always does, which takes one more call of the model.
    Always,
    /// It does not where everything was seen to be done, as it was expected.
    #[default]
    Auto,
    /// It does not: the AppAgent's word is taken.
    Never,
}

impl VerifySetting {
    /// The setting as the session machine takes it.
    pub const fn to_verify(self) -> Verify {
        match self {
            Self::Always => Verify::Always,
            Self::Auto => Verify::Auto,
            Self::Never => Verify::Never,
        }
    }
}

/// What one request may use up at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// The most steps of all agents together.
    #[schemars(range(min = 1))]
    pub steps_max: u32,
    /// The most requests to the model, failed and repeated ones included.
    #[schemars(range(min = 1))]
    pub model_calls_max: u32,
    /// The most tokens, read and written; without it there is no limit.
    pub tokens_max: Option<u64>,
    /// The most money for the model, in US dollars; without it there is no limit. Needs the price of the model to be
    /// known.
    pub cost_max: Option<f64>,
    /// The longest that a request may take, in minutes; without it there is no limit.
    pub minutes_max: Option<u64>,
    /// How often a model is asked again for a reply that cannot be used.
    pub repairs_max: u32,
    /// How many sub-tasks in a row may fail before the request does.
    #[schemars(range(min = 1))]
    pub subtask_failures_max: u32,
    /// The most tokens of one reply.
    #[schemars(range(min = 1))]
    pub completion_tokens_max: u32,
}

impl Default for LimitSettings {
    fn default() -> Self {
        let limits = Limits::default();
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
    /// The limits as the session machine takes them.
    ///
    /// # Errors
    /// [`ConfigError::NotMoney`].
    pub fn to_limits(&self) -> Result<Limits, ConfigError> {
        Ok(Limits {
            steps_max: self.steps_max,
            model_calls_max: self.model_calls_max,
            tokens_max: self.tokens_max,
            money_max: money("limits.cost_max", self.cost_max)?,
            wall_ms_max: self.minutes_max.map(|minutes| minutes.saturating_mul(60_000)),
            repairs_max: self.repairs_max,
            subtask_failures_max: self.subtask_failures_max,
            completion_tokens_max: self.completion_tokens_max,
            ..Limits::default()
        })
    }
}

/// What all requests of a session together may use up; without a value there is no limit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionLimitSettings {
    /// The most steps of all agents together.
    #[schemars(range(min = 1))]
    pub steps_max: Option<u32>,
    /// The most requests to the model, failed and repeated ones included.
    #[schemars(range(min = 1))]
    pub model_calls_max: Option<u32>,
    /// The most tokens, read and written.
    pub tokens_max: Option<u64>,
    /// The most money for the model, in US dollars.
    pub cost_max: Option<f64>,
    /// The longest that the requests may take together, in minutes.
    pub minutes_max: Option<u64>,
}

impl SessionLimitSettings {
    /// The limits as the session machine takes them.
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

/// An amount in dollars, if one is given.
fn money(key: &str, dollars: Option<f64>) -> Result<Option<Money>, ConfigError> {
    let to_money =
        |dollars| Money::from_dollars(dollars).ok_or_else(|| ConfigError::NotMoney { key: key.to_owned() });
    dollars.map(to_money).transpose()
}

/// What a model costs, in US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PriceSettings {
    /// Tokens read.
    pub prompt: Option<f64>,
    /// Of these, tokens from the provider's cache; without it they cost as much as any other.
    pub cached: Option<f64>,
    /// Tokens written.
    pub completion: Option<f64>,
}

/// The prices that come with the program, and those of the configuration, which win.
///
/// # Errors
/// [`ConfigError::Price`] names the key of a price that is incomplete or not an amount.
pub fn price_table(own: &BTreeMap<String, PriceSettings>) -> Result<PriceTable, ConfigError> {
    let mut table = known_prices();
    let wrong = |problem| ConfigError::Price { problem };
    for (model, price) in own {
        let (Some(prompt), Some(completion)) = (price.prompt, price.completion) else {
            return Err(wrong(format!("prices.{model} needs both `prompt` and `completion`")));
        };
        let price = DollarPrice { prompt, cached: price.cached, completion }.to_price();
        let price = price.ok_or_else(|| wrong(format!("prices.{model} has an amount that is none")))?;
        table.models.insert(model.clone(), price);
    }
    Ok(table)
}
