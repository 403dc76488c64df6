//! What agents may use up and how they check each other: limits of a session, prices, verification.

use std::collections::BTreeMap;

use deskhand_core::{
    money::{Money, PriceTable},
    session::{SessionLimits, Verify},
};
use deskhand_model::{DollarPrice, known_prices};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How agents work together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WorkSettings {
    /// Whether the HostAgent judges what an AppAgent says is done.
    pub(crate) verify: VerifySetting,
}

/// Whether the HostAgent judges what an AppAgent says is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VerifySetting {
    /// It always does, which takes one more call of the model.
    Always,
    /// It does not where everything was seen to be done, as it was expected.
    #[default]
    Auto,
    /// It does not: the AppAgent's word is taken.
    Never,
}

impl VerifySetting {
    /// In the words of the session machine.
    pub(crate) const fn to_verify(self) -> Verify {
        match self {
            Self::Always => Verify::Always,
            Self::Auto => Verify::Auto,
            Self::Never => Verify::Never,
        }
    }
}

/// What all requests of a session together may use up; without a value there is no limit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SessionLimitSettings {
    /// The most steps of all agents together.
    #[schemars(range(min = 1))]
    pub(crate) steps_max: Option<u32>,
    /// The most requests to the model, failed and repeated ones included.
    #[schemars(range(min = 1))]
    pub(crate) model_calls_max: Option<u32>,
    /// The most tokens, read and written.
    pub(crate) tokens_max: Option<u64>,
    /// The most money for the model, in US dollars.
    pub(crate) cost_max: Option<f64>,
    /// The longest that the requests may take together, in minutes.
    pub(crate) minutes_max: Option<u64>,
}

impl SessionLimitSettings {
    /// The limits in the words of the session machine; the key of an amount that is none.
    pub(crate) fn to_limits(&self) -> Result<SessionLimits, &'static str> {
        Ok(SessionLimits {
            steps_max: self.steps_max,
            model_calls_max: self.model_calls_max,
            tokens_max: self.tokens_max,
            money_max: money(self.cost_max).ok_or("session_limits.cost_max")?,
            wall_ms_max: self.minutes_max.map(|minutes| minutes.saturating_mul(60_000)),
        })
    }
}

/// An amount in dollars, if one is named; none where it is no amount.
#[expect(clippy::option_option, reason = "no limit and no amount are two things")]
pub(crate) fn money(dollars: Option<f64>) -> Option<Option<Money>> {
    match dollars {
        None => Some(None),
        Some(dollars) => Money::from_dollars(dollars).map(Some),
    }
}

/// What a model costs, in US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PriceSettings {
    /// Tokens read.
    pub(crate) prompt: Option<f64>,
    /// Of these, tokens from the provider's cache; without it they cost as much as any other.
    pub(crate) cached: Option<f64>,
    /// Tokens written.
    pub(crate) completion: Option<f64>,
}

/// The prices that come with the program, and those of the configuration, which win.
///
/// # Errors
/// The key of the price that is incomplete or no amount.
pub(crate) fn price_table(own: &BTreeMap<String, PriceSettings>) -> Result<PriceTable, String> {
    let mut table = known_prices();
    for (model, price) in own {
        let (Some(prompt), Some(completion)) = (price.prompt, price.completion) else {
            return Err(format!("prices.{model} needs both `prompt` and `completion`"));
        };
        let price = DollarPrice { prompt, cached: price.cached, completion }.to_price();
        let price = price.ok_or_else(|| format!("prices.{model} has an amount that is none"))?;
        table.models.insert(model.clone(), price);
    }
    Ok(table)
}
