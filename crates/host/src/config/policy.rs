//! Settings of what agents may do.

use deskhand_core::policy::{Decision, Policy, Rule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What agents may do, and what needs your approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicySettings {
    /// Whether to ask for approval when the model says CONFIRM, and before actions that usually cannot be undone.
    pub safe_guard: bool,
    /// Rules, in order. The first that matches decides; without a match the action is allowed.
    pub rules: Vec<RuleSettings>,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self { safe_guard: true, rules: Vec::new() }
    }
}

impl PolicySettings {
    /// The policy for the session machine.
    pub fn to_policy(&self) -> Policy {
        let rules = self.rules.iter().map(|rule| Rule {
            does: rule.does.clone(),
            tool: rule.tool.clone(),
            application: rule.application.clone(),
            role: rule.role.clone(),
            label: rule.label.clone(),
            arguments: rule.arguments.clone(),
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

/// One rule. All of its patterns must match: `*` is any text, `?` one character, `|` separates alternatives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleSettings {
    /// The name of the tool.
    #[serde(default = "any")]
    pub tool: String,
    /// What the tool does: `press`, `type`, `drag`, `set`, `point`, `open`, `switch`, `close`, `save`, `run`, `delegate`, `read`, `wait` or
    /// `other`.
    #[serde(default = "any")]
    pub does: String,
    /// The application: its display name or its short name.
    #[serde(default = "any")]
    pub application: String,
    /// The role of the element: `push button`.
    #[serde(default = "any")]
    pub role: String,
    /// The name of the target: an element, a menu item, keys, a program.
    #[serde(default = "any")]
    pub label: String,
    /// The arguments of a program or the files to open, separated by spaces. Without it, a rule that allows a program by its
    /// name allows it without arguments alone.
    #[serde(default)]
    pub arguments: Option<String>,
    /// What the rule decides.
    pub decision: DecisionSetting,
    /// The reason, shown to the agent and to whoever is asked.
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
    /// Run the action.
    Allow,
    /// Ask for approval first.
    Ask,
    /// Never run the action.
    Deny,
}
