//! Rules, and what they decide.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    decision::{PolicyDecision, PolicyRuling},
    guard::{SafeGuardLabels, guard},
    looks::{Alike, NameSkeleton},
    subject::Subject,
};
use crate::{
    intent::{CommandAim, Does, Intent},
    known_tools,
};
use deskhand_ui::pattern::{matches, matches_keys, matches_name};

/// A rule. It matches if all its patterns match: `*` matches any text, `?` one character, `|` separates alternatives;
/// case-insensitive. Names are compared without mnemonics and a trailing `…` or `:`, keys as
/// chords ([`matches_name`], [`matches_keys`](super::matches_keys)).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// Name of the tool.
    #[serde(default = "any")]
    pub tool: String,
    /// Effect of the tool, by the words of [`Does`]: `press`, `type`, `run`, …
    #[serde(default = "any", skip_serializing_if = "is_any")]
    pub does: String,
    /// Application that is acted on: its display name or its short name.
    #[serde(default = "any")]
    pub application: String,
    /// Title of the window, dialog or pop-up that shows the target. The application writes it.
    #[serde(default = "any", skip_serializing_if = "is_any")]
    pub window: String,
    /// Host of the page that shows the target, or of the address that is opened. That of a page which does not tell its address
    /// matches ask and deny rules only.
    #[serde(default = "any", skip_serializing_if = "is_any")]
    pub host: String,
    /// File that is opened or saved, or path that is typed: absolute, or starting with `~/`.
    #[serde(default = "any", skip_serializing_if = "is_any")]
    pub path: String,
    /// Origin of the values that the command names: `user`, `outside` or `model` ([`Origin`](super::Origin)).
    #[serde(default = "any", skip_serializing_if = "is_any")]
    pub from: String,
    /// Role of the target element, such as `push button`.
    #[serde(default = "any")]
    pub role: String,
    /// Name of the target: an element, a menu item, keys.
    #[serde(default = "any")]
    pub label: String,
    /// Arguments of the program, or files to open, separated by spaces. Without it, a rule that allows a program by its name
    /// allows it without arguments alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The decision if the rule matches.
    pub decision: PolicyDecision,
    /// The reason, shown to the agent and to the person who decides.
    #[serde(default)]
    pub reason: String,
}

fn any() -> String {
    "*".to_owned()
}

fn is_any(pattern: &str) -> bool {
    pattern == "*"
}

/// The policy. The first matching rule decides; without one the command is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// The rules, in order.
    pub rules: Vec<PolicyRule>,
    /// If `true`, a person is consulted if a model replies CONFIRM, and before actions that usually cannot be undone.
    pub safe_guard: bool,
    /// Labels that it asks about besides those that it knows.
    #[serde(skip_serializing_if = "SafeGuardLabels::is_empty")]
    pub words: SafeGuardLabels,
}

impl Default for Policy {
    fn default() -> Self {
        Self { rules: Vec::new(), safe_guard: true, words: SafeGuardLabels::default() }
    }
}

impl Policy {
    /// Decides by the first matching rule, then by the safe guard; allows otherwise.
    pub fn decide(&self, subject: &Subject) -> PolicyRuling {
        let own = self.rules.iter().find(|rule| rule.matches(subject)).map(PolicyRule::ruling);
        own.or_else(|| self.safe_guard.then(|| guard(self, subject)).flatten())
            .unwrap_or(PolicyRuling { decision: PolicyDecision::Allow, why: String::new() })
    }

    /// Returns `true` if a rule may ask about or deny a command because of a name, so that the name must be known. What lies at
    /// a place is judged again by what is there just before the input.
    pub fn depends_on_names(&self, tool: &str, intent: &Intent) -> bool {
        let own = |rule: &PolicyRule| {
            rule.label != "*" && rule.decision != PolicyDecision::Allow && rule.applies_to(tool, intent.does)
        };
        let at_a_place = intent.aims.iter().any(|aimed| matches!(aimed, CommandAim::Place { .. }));
        self.rules.iter().any(own) || (self.safe_guard && intent.does.activates() && !at_a_place)
    }
}

impl PolicyRule {
    /// A rule that matches everything, to be narrowed.
    pub fn new(decision: PolicyDecision, reason: impl Into<String>) -> Self {
        Self {
            tool: any(),
            does: any(),
            application: any(),
            window: any(),
            host: any(),
            path: any(),
            from: any(),
            role: any(),
            label: any(),
            arguments: None,
            decision,
            reason: reason.into(),
        }
    }

    /// Returns `true` if the rule matches. Of several names, an ask or deny rule must match any, an allow rule all of them. An
    /// unknown role matches ask and deny rules only. These also match what looks like their names.
    pub(super) fn matches(&self, subject: &Subject) -> bool {
        let allows = self.decision == PolicyDecision::Allow;
        let looks = |pattern: &str, text: &str| {
            !allows && pattern != "*" && Alike::new([pattern]).have(&NameSkeleton::of(text))
        };
        let labels =
            subject.labels.iter().map(|label| matches_name(&self.label, label) || looks(&self.label, label));
        let keys = subject.keys.iter().map(|keys| matches_keys(&self.label, keys));
        let by_letter = subject.may_press.iter().filter(|_| !allows).map(|one| {
            self.label != "*" && (matches_name(&self.label, &one.name) || looks(&self.label, &one.name))
        });
        let mut names = labels.chain(keys).chain(by_letter).peekable();
        let labels = match names.peek() {
            None => self.label == "*",
            Some(_) if allows => names.all(|matches| matches),
            Some(_) => names.any(|matches| matches),
        };
        let role = match &subject.role {
            Some(role) => matches(&self.role, role),
            None => self.role == "*" || !allows,
        };
        let application = matches(&self.application, &subject.application)
            || matches(&self.application, &subject.application_root)
            || looks(&self.application, &subject.application);
        let of_several = |pattern: &str, texts: &mut dyn Iterator<Item = &str>| {
            let mut texts = texts.peekable();
            match texts.peek() {
                None => pattern == "*",
                Some(_) if allows => texts.all(|text| matches(pattern, text)),
                Some(_) => texts.any(|text| matches(pattern, text)),
            }
        };
        let host = of_several(&self.host, &mut subject.hosts.iter().map(String::as_str));
        let host = if subject.host_unknown { self.host == "*" || !allows } else { host };
        self.applies_to(&subject.tool, subject.does)
            && application
            && (matches(&self.window, &subject.window) || looks(&self.window, &subject.window))
            && host
            && of_several(&self.path, &mut subject.paths.iter().map(String::as_str))
            && of_several(&self.from, &mut subject.values.iter().map(|value| value.origin.word()))
            && labels
            && role
            && self.allows_arguments(subject)
    }

    /// Returns `true` if the rule holds with the arguments of a program.
    fn allows_arguments(&self, subject: &Subject) -> bool {
        let given = subject.arguments.join(" ");
        match &self.arguments {
            Some(pattern) => matches(pattern, &given),
            None => self.decision != PolicyDecision::Allow || self.label == "*" || given.is_empty(),
        }
    }

    /// Returns `true` if the rule applies to the tool. Ask and deny rules for typing also apply to tools that enter text by other
    /// means, such as the clipboard; an allow rule must name these.
    fn applies_to(&self, tool: &str, does: Does) -> bool {
        let as_typing = self.decision != PolicyDecision::Allow && does == Does::Type;
        matches(&self.does, does.word())
            && (matches(&self.tool, tool) || (as_typing && matches(&self.tool, known_tools::TYPE)))
    }

    fn ruling(&self) -> PolicyRuling {
        let why = if self.reason.is_empty() { self.to_string() } else { self.reason.clone() };
        PolicyRuling { decision: self.decision, why }
    }
}

impl fmt::Display for PolicyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let any = any();
        let parts = [
            ("tool", &self.tool),
            ("does", &self.does),
            ("application", &self.application),
            ("window", &self.window),
            ("host", &self.host),
            ("path", &self.path),
            ("from", &self.from),
            ("role", &self.role),
            ("label", &self.label),
            ("arguments", self.arguments.as_ref().unwrap_or(&any)),
        ];
        let decision = match self.decision {
            PolicyDecision::Allow => "allow",
            PolicyDecision::Ask => "ask",
            PolicyDecision::Deny => "deny",
        };
        f.write_str(decision)?;
        for (name, pattern) in parts.into_iter().filter(|(_, pattern)| *pattern != "*") {
            write!(f, " {name} `{pattern}`")?;
        }
        Ok(())
    }
}
