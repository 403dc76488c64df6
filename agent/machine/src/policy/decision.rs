//! Decisions of the policy.

use serde::{Deserialize, Serialize};

/// The decision of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyDecision {
    /// Run it.
    Allow,
    /// Ask a person first.
    Ask,
    /// Never run it.
    Deny,
}

/// The policy's decision on a subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyRuling {
    /// The decision.
    pub decision: PolicyDecision,
    /// The rule as text; empty if no rule matches.
    pub why: String,
}
