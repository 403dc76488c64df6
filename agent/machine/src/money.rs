//! Prices of models. An unknown price stays unknown; it never counts as zero.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::model::Usage;

/// An amount of money, in millionths of a US dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(pub u64);

impl Money {
    /// The amount in dollars, rounded to the nearest millionth; `None` if it is not a valid amount.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let micros = (dollars * 1e6).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked and rounding is intended"
        )]
        (micros.is_finite() && (0.0..1e18).contains(&micros)).then_some(Self(micros as u64))
    }

    /// The sum, saturating.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, saturating at zero.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Money {
    /// `$1.25`; small amounts get as many digits as needed: `$0.00042`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, micros) = (self.0 / 1_000_000, self.0 % 1_000_000);
        let digits = format!("{micros:06}");
        let cents = digits.get(..2).unwrap_or("00");
        let rest = digits.get(2..).unwrap_or_default().trim_end_matches('0');
        // No fractions of a cent above ten dollars.
        let rest = if dollars >= 10 { "" } else { rest };
        write!(f, "${dollars}.{cents}{rest}")
    }
}

/// Prices of a model per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input tokens.
    pub prompt: Money,
    /// Input tokens from the provider's cache; `None` if they cost the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<Money>,
    /// Output tokens.
    pub completion: Money,
}

impl Price {
    /// The cost of these tokens, rounded up; `None` if the provider did not report their number.
    pub fn of(&self, usage: Usage) -> Option<Money> {
        let (read, written) = (usage.prompt_tokens?, usage.completion_tokens?);
        let cached = usage.cached_tokens.unwrap_or(0).min(read);
        let part = |tokens: u64, price: Money| u128::from(tokens).saturating_mul(u128::from(price.0));
        let sum = part(read.saturating_sub(cached), self.prompt)
            .saturating_add(part(cached, self.cached.unwrap_or(self.prompt)))
            .saturating_add(part(written, self.completion));
        Some(Money(u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)))
    }
}

/// Prices by model name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PriceTable {
    /// By model name as sent to the endpoint. A name may end in `*`.
    pub models: BTreeMap<String, Price>,
}

impl PriceTable {
    /// The price of a model: by its name, by its name without a date (`gpt-5-mini-2025-08-07`), else by the longest
    /// matching prefix ending in `*`. `None` if unknown.
    pub fn find(&self, model: &str) -> Option<&Price> {
        let model = model.trim();
        self.models.get(model).or_else(|| self.models.get(without_date(model)?)).or_else(|| {
            self.models
                .iter()
                .filter_map(|(name, price)| Some((name.strip_suffix('*')?, price)))
                .filter(|(head, _)| model.starts_with(head))
                .max_by_key(|(head, _)| head.len())
                .map(|(_, price)| price)
        })
    }

    /// Merges another table into this one; its prices win.
    pub fn extend(&mut self, other: Self) {
        self.models.extend(other.models);
    }
}

/// The name before `-2025-08-07` or `-20250807`.
fn without_date(model: &str) -> Option<&str> {
    let dashed = model.len().checked_sub("-2025-08-07".len()).and_then(|at| model.split_at_checked(at));
    let plain = model.len().checked_sub("-20250807".len()).and_then(|at| model.split_at_checked(at));
    let is_date = |tail: &str| {
        tail.starts_with('-')
            && tail.bytes().filter(u8::is_ascii_digit).count() == 8
            && tail.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())
    };
    [dashed, plain].into_iter().flatten().find(|(_, tail)| is_date(tail)).map(|(head, _)| head)
}

/// The total cost, as far as known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Sum of the known costs.
    pub known: Money,
    /// Requests with an unknown cost. If there are any, the sum is a lower bound.
    pub unknown_calls: u32,
}

impl Cost {
    /// Adds requests and their total cost, if known.
    pub fn add(&mut self, requests: u32, cost: Option<Money>) {
        match cost {
            Some(cost) => self.known = self.known.plus(cost),
            None => self.unknown_calls = self.unknown_calls.saturating_add(requests),
        }
    }
}

impl fmt::Display for Cost {
    /// `$0.12`, `unknown`, or `at least $0.12`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.known, self.unknown_calls) {
            (known, 0) => known.fmt(f),
            (Money(0), _) => f.write_str("unknown"),
            (known, _) => write!(f, "at least {known}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(read: u64, cached: Option<u64>, written: u64) -> Usage {
        Usage { prompt_tokens: Some(read), cached_tokens: cached, completion_tokens: Some(written) }
    }

    #[test]
    fn formats_amounts() {
        let check = |micros: u64, expected: &str| assert_eq!(Money(micros).to_string(), expected);
        check(0, "$0.00");
        check(1_250_000, "$1.25");
        check(420, "$0.00042");
        check(120_000, "$0.12");
        check(12_345_678, "$12.34");
        assert_eq!(Money::from_dollars(0.25), Some(Money(250_000)));
        assert_eq!(Money::from_dollars(-1.0), None);
        assert_eq!(Money::from_dollars(f64::NAN), None);
    }

    #[test]
    fn cost_uses_cached_price_and_rounds_up() {
        let price =
            Price { prompt: Money(250_000), cached: Some(Money(25_000)), completion: Money(2_000_000) };
        assert_eq!(price.of(usage(1_000_000, None, 0)), Some(Money(250_000)));
        assert_eq!(price.of(usage(1_000_000, Some(1_000_000), 0)), Some(Money(25_000)));
        assert_eq!(price.of(usage(1, None, 1)), Some(Money(3)));
        let whole = Price { cached: None, ..price };
        assert_eq!(whole.of(usage(1_000_000, Some(1_000_000), 0)), Some(Money(250_000)));
        assert_eq!(price.of(Usage::default()), None, "no price without a token count");
    }

    #[test]
    fn finds_price_by_name_undated_name_or_longest_prefix() {
        let price = |prompt| Price { prompt: Money(prompt), cached: None, completion: Money(0) };
        let models = [("gpt-5", 1), ("gpt-5-mini", 2), ("qwen*", 3), ("qwen3-vl*", 4)];
        let table =
            PriceTable { models: models.map(|(name, prompt)| (name.to_owned(), price(prompt))).into() };
        let check = |model: &str, expected: Option<u64>| {
            assert_eq!(table.find(model).map(|price| price.prompt.0), expected, "{model}");
        };
        check("gpt-5", Some(1));
        check("gpt-5-mini-2025-08-07", Some(2));
        check("gpt-5-20250807", Some(1));
        check("gpt-5-nano", None);
        check("qwen2", Some(3));
        check("qwen3-vl-8b", Some(4));
        check("", None);
    }

    #[test]
    fn unknown_cost_is_not_zero() {
        let mut cost = Cost::default();
        assert_eq!(cost.to_string(), "$0.00");
        cost.add(2, None);
        assert_eq!(cost.to_string(), "unknown");
        cost.add(1, Some(Money(120_000)));
        assert_eq!(cost.to_string(), "at least $0.12");
    }
}
