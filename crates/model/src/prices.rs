//! What models cost, as far as it is known here.

use std::collections::BTreeMap;

use deskhand_core::money::{Money, Price, PriceTable};
use serde::{Deserialize, Serialize};

/// The table that comes with the program.
const KNOWN: &str = include_str!("../prices.toml");

/// The name under which the table knows a script, which asks nobody and costs nothing.
pub const SCRIPT_MODEL: &str = "script";

/// A price as people write it: dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DollarPrice {
    /// Tokens read.
    pub prompt: f64,
    /// Of these, tokens from the provider's cache; none where they cost as much as any other.
    #[serde(default)]
    pub cached: Option<f64>,
    /// Tokens written.
    pub completion: f64,
}

impl DollarPrice {
    /// The price as it is reckoned with; none where an amount is negative or no number.
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

/// The prices that come with the program.
pub fn known_prices() -> PriceTable {
    // A test reads the file; a table that could not be read would leave every price unknown.
    let dollars: BTreeMap<String, DollarPrice> = toml::from_str(KNOWN).unwrap_or_default();
    let prices = dollars.into_iter().filter_map(|(name, price)| Some((name, price.to_price()?)));
    PriceTable { models: prices.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_whole() {
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
    fn what_is_no_price_is_none() {
        let price = DollarPrice { prompt: 1.0, cached: None, completion: 2.0 };
        assert!(price.to_price().is_some());
        assert_eq!(DollarPrice { prompt: -1.0, ..price }.to_price(), None);
        assert_eq!(DollarPrice { cached: Some(f64::INFINITY), ..price }.to_price(), None);
    }
}
