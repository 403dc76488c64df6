//! What may be done: rules over tools, applications and the names of elements.

use serde::{Deserialize, Serialize};

/// What a rule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It is run.
    Allow,
    /// A person is asked first.
    Ask,
    /// It is never run.
    Deny,
}

/// One rule. Its patterns must all fit; `*` stands for any text, `?` for one character, case does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
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
    pub decision: Decision,
    /// Why, for the agent and the person who is asked.
    #[serde(default)]
    pub reason: String,
}

fn any() -> String {
    "*".to_owned()
}

/// What may be done. The first rule that fits decides; what no rule speaks of is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// The rules, in order.
    pub rules: Vec<Rule>,
    /// Whether a person is asked when a model says CONFIRM, and before what usually cannot be undone.
    pub safe_guard: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self { rules: Vec::new(), safe_guard: true }
    }
}
