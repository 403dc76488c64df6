//! What can be configured of what agents may do.

use deskhand_core::policy::{Decision, Policy, Rule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What agents may do, and what a person is asked about first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicySettings {
    /// Whether a person is asked when a model says CONFIRM, and before what usually cannot be undone.
    pub safe_guard: bool,
    /// Rules, in order: the first that fits decides, and what none speaks of is allowed.
    pub rules: Vec<RuleSettings>,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self { safe_guard: true, rules: Vec::new() }
    }
}

impl PolicySettings {
    /// The policy as the session machine takes it.
    pub fn to_policy(&self) -> Policy {
        let rules = self.rules.iter().map(|rule| Rule {
            tool: rule.tool.clone(),
            application: rule.application.clone(),
            role: rule.role.clone(),
            label: rule.label.clone(),
            decision: match rule.decision {
                DecisionSetting::Allow => Decision::Allow,
                DecisionSetting::Ask => Decision::Ask,
                DecisionSetting::Deny => Decision::Deny,
            },
            reason: rule.reason.clone(),
        });
        Policy { rules: rules.collect(), safe_guard: self.safe_guard }
    }
}

/// One rule. Its patterns must all fit: `*` is any text, `?` one character, `|` stands between alternatives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleSettings {
    /// The name of the tool.
    #[serde(default = "any")]
    pub tool: String,
    /// The application that is acted on: its name as people know it, or its short name.
    #[serde(default = "any")]
    pub application: String,
    /// The role of the element that is acted on: `push button`.
    #[serde(default = "any")]
    pub role: String,
    /// The name of what is acted on: an element, a menu item, keys.
    #[serde(default = "any")]
    pub label: String,
    /// What follows.
    pub decision: DecisionSetting,
    /// Why, for the agent and the person who is asked.
    #[serde(default)]
    pub reason: String,
}

fn any() -> String {
    "*".to_owned()
}

/// What a rule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecisionSetting {
    /// It is done.
    Allow,
    /// A person is asked first.
    Ask,
    /// It is never done.
    Deny,
}
