//! Limits for many tasks together: budgets of batches, and how many tasks with a label may run at once.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// Key prefix of the records of limits.
pub const LIMITS: &str = "limit.";
/// The key of the record with the limits of labels.
pub const LABEL_LIMITS: &str = "limit.labels";
/// Key prefix of the records of budgets.
pub const BUDGETS: &str = "budget.";

/// The most tasks with a label that are in the queue or held at once.
pub type Limits = BTreeMap<String, usize>;

/// The key of the record of the budget of a batch.
pub fn budget_key(batch: &str) -> String {
    format!("{BUDGETS}{batch}")
}

/// Resources that tasks used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskUsage {
    /// Requests to models.
    pub model_calls: u64,
    /// Tokens, read and written.
    pub tokens: u64,
    /// Money, in millionths of a US dollar, as far as prices are known.
    pub cost_micros: u64,
    /// Requests with an unknown price. If there are any, the cost is a lower bound.
    pub unpriced_calls: u64,
}

impl TaskUsage {
    /// Both together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            model_calls: self.model_calls.saturating_add(other.model_calls),
            tokens: self.tokens.saturating_add(other.tokens),
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
            unpriced_calls: self.unpriced_calls.saturating_add(other.unpriced_calls),
        }
    }
}

/// Resources that all tasks of a batch may use together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchBudget {
    /// Requests to models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
    /// Tokens, read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money, in millionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

impl BatchBudget {
    /// Which limit is reached, if one is.
    pub fn reached_by(&self, used: &TaskUsage) -> Option<BatchBudgetLimit> {
        let is_reached = |used: u64, most: Option<u64>| most.is_some_and(|most| used >= most);
        if is_reached(used.cost_micros, self.cost_micros) {
            Some(BatchBudgetLimit::Cost)
        } else if is_reached(used.tokens, self.tokens) {
            Some(BatchBudgetLimit::Tokens)
        } else if is_reached(used.model_calls, self.model_calls) {
            Some(BatchBudgetLimit::ModelCalls)
        } else {
            None
        }
    }
}

/// A limit of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchBudgetLimit {
    /// Of money.
    Cost,
    /// Of tokens.
    Tokens,
    /// Of requests to models.
    ModelCalls,
}

impl fmt::Display for BatchBudgetLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cost => "cost",
            Self::Tokens => "tokens",
            Self::ModelCalls => "model calls",
        })
    }
}

/// The state of the budget of a batch in the fleet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetRecord {
    /// The allowed resources.
    pub allowed: BatchBudget,
    /// The limit that is reached: then no further task of the batch begins. The leading controller writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<BatchBudgetLimit>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_reached_by_the_first_limit_that_is() {
        let budget = BatchBudget { tokens: Some(100), cost_micros: Some(5), ..BatchBudget::default() };
        let used = |tokens, cost_micros| TaskUsage { tokens, cost_micros, ..TaskUsage::default() };
        assert_eq!(budget.reached_by(&used(99, 4)), None);
        assert_eq!(budget.reached_by(&used(100, 4)), Some(BatchBudgetLimit::Tokens));
        assert_eq!(budget.reached_by(&used(100, 5)), Some(BatchBudgetLimit::Cost));
        assert_eq!(BatchBudget::default().reached_by(&used(u64::MAX, u64::MAX)), None);
    }
}
