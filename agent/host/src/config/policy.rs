//! Settings of what agents may do.

use std::path::PathBuf;

use deskhand_machine::policy::{PathRoots, Policy, PolicyDecision, PolicyRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rules for the actions that agents may do, and for those that need your approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicySettings {
    /// A TOML file with the other keys of this section, used instead of what stands here. Agents cannot write to it.
    pub file: Option<PathBuf>,
    /// If `true`, approval is required when the model says CONFIRM, and before actions that usually cannot be undone.
    pub safe_guard: bool,
    /// Rules, in order. The first that matches decides; without a match the action is allowed.
    pub rules: Vec<RuleSettings>,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self { file: None, safe_guard: true, rules: Vec::new() }
    }
}

impl PolicySettings {
    /// The policy for the session machine, with paths of files as they are there.
    pub fn to_policy(&self, places: &PathRoots) -> Policy {
        let rules = self.rules.iter().map(|rule| PolicyRule {
            does: rule.does.clone(),
            tool: rule.tool.clone(),
            application: rule.application.clone(),
            window: rule.window.clone(),
            host: rule.host.clone(),
            path: places.pattern(&rule.path),
            from: rule.from.clone(),
            role: rule.role.clone(),
            label: rule.label.clone(),
            arguments: rule.arguments.clone(),
            decision: match rule.decision {
                DecisionSetting::Allow => PolicyDecision::Allow,
                DecisionSetting::Ask => PolicyDecision::Ask,
                DecisionSetting::Deny => PolicyDecision::Deny,
            },
            reason: rule.reason.clone(),
        });
        Policy { rules: rules.collect(), safe_guard: self.safe_guard, ..Policy::default() }
    }
}

/// One rule. All of its patterns must match: `*` is any text, `?` one character, `|` separates alternatives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleSettings {
    /// The name of the tool.
    #[serde(default = "any")]
    pub tool: String,
    /// Effect of the tool: `press`, `type`, `drag`, `set`, `point`, `open`, `switch`, `close`, `save`, `run`,
    /// `delegate`, `read`, `wait` or `other`.
    #[serde(default = "any")]
    pub does: String,
    /// The application: its display name or its short name.
    #[serde(default = "any")]
    pub application: String,
    /// The title of the window, dialog or pop-up that shows the target. The application writes it.
    #[serde(default = "any")]
    pub window: String,
    /// The host of the page that shows the target, or of the address that is opened: `*.example.org|example.org`.
    #[serde(default = "any")]
    pub host: String,
    /// The file that is opened or saved, or a path that is typed: an absolute path, or one that starts with `~/`.
    #[serde(default = "any")]
    pub path: String,
    /// Origin of the hosts, recipients, files and programs that the action names: `user` (you named them), `outside`
    /// (they are in something that an agent has read) or `model`.
    #[serde(default = "any")]
    pub from: String,
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
    /// Decision of the rule.
    pub decision: DecisionSetting,
    /// The reason, shown to the agent and to whoever is asked.
    #[serde(default)]
    pub reason: String,
}

fn any() -> String {
    "*".to_owned()
}

/// Decision of a rule.
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
