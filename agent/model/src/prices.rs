//! Built-in model prices.

use std::collections::BTreeMap;

use deskhand_machine::money::{Money, Price, PriceTable};
use serde::{Deserialize, Serialize};

/// The built-in table.
const KNOWN: &str = include_str!("../prices.toml");

/// The table entry of scripted models, which cost nothing.
pub const SCRIPT_MODEL: &str = "script";

/// A price in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DollarPrice {
    /// Prompt tokens.
    pub prompt: f64,
    /// Prompt tokens read from the provider's cache; `None` if they cost as much as others.
    #[serde(default)]
    pub cached: Option<f64>,
    /// Completion tokens.
    pub completion: f64,
}

impl DollarPrice {
    /// Converts the price; `None` if an amount is negative or not finite.
    pub fn to_price(self) -> Option<Price> {
        let cached = match self.cached {
            Some(dollars) => Some(Money::from_dollars(dollars)?),
            None => None,
        };
        Some(Price {
            prompt: Money::from_dollars(self.prompt)?,
            cached,
            completion: Money::from_dollars(self.completion)?,
        })
    }
}

/// The built-in prices.
pub fn known_prices() -> PriceTable {
    // A test checks that the table parses; otherwise every price would be unknown.
    let dollars: BTreeMap<String, DollarPrice> = toml::from_str(KNOWN).unwrap_or_default();
    let prices = dollars.into_iter().filter_map(|(name, price)| Some((name, price.to_price()?)));
    PriceTable { models: prices.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_parses() {
        let table = known_prices();
        assert_eq!(table.models.len(), KNOWN.matches("[\"").count());
        assert_eq!(table.find(SCRIPT_MODEL).map(|price| price.completion), Some(Money(0)));
        let mini = table.find("gpt-5-mini-2025-08-07").copied();
        let expected =
            Price { prompt: Money(250_000), cached: Some(Money(25_000)), completion: Money(2_000_000) };
        assert_eq!(mini, Some(expected));
        assert_eq!(table.find("qwen3-vl-30b"), None);
    }

    #[test]
    fn negative_and_infinite_prices_are_rejected() {
        let price = DollarPrice { prompt: 1.0, cached: None, completion: 2.0 };
        assert!(price.to_price().is_some());
        assert_eq!(DollarPrice { prompt: -1.0, ..price }.to_price(), None);
        assert_eq!(DollarPrice { cached: Some(f64::INFINITY), ..price }.to_price(), None);
    }
}
