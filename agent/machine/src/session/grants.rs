//! The approvals that hold until the session ends.

use std::{collections::VecDeque, fmt};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::hiding::{Values, hide};
use crate::{
    command::{ToolCommand, ToolSpec},
    intent::{Does, Takes},
    policy::{Subject, ValueOrigin},
    secret,
};

/// An approval that holds until the session ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Grant {
    tool: String,
    application: String,
    /// Name of the element, or its id if it has no name; without an element, all arguments.
    on: String,
    /// All other arguments.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    with: String,
}

/// The approvals that hold until the session ends. Bounded: the oldest is dropped and asked for again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Grants(VecDeque<Grant>);

impl Grants {
    const MAX: usize = 100;

    /// Returns `true` if an approval covers this.
    pub(super) fn holds(&self, grant: &Grant) -> bool {
        self.0.contains(grant)
    }

    /// Takes in what was approved for the session.
    pub(super) fn remember(&mut self, grants: Vec<Grant>) {
        for grant in grants {
            if self.holds(&grant) {
                continue;
            }
            while self.0.len() >= Self::MAX {
                self.0.pop_front();
            }
            self.0.push_back(grant);
        }
    }

    /// Puts dots in the place of passwords.
    pub(super) fn hide(&mut self, values: &Values) {
        hide(self, values);
    }
}

impl Grant {
    /// The grant that an approval of a command gives.
    pub(super) fn of(command: &ToolCommand, subject: &Subject, tools: &[ToolSpec]) -> Self {
        let names: Vec<&str> = subject.names().collect();
        let all = || Value::Object(command.arguments.clone()).to_string();
        let on = match (names.as_slice(), subject.role.as_ref(), command.arguments.get("id")) {
            // A program, or a call of an agent without a window: the grant covers only identical arguments.
            _ if command.agent.is_some() || subject.does == Does::Open => all(),
            // A line that is run, or a password: the grant covers no other text.
            _ if subject.enters_line || subject.fills_password.is_some() => all(),
            // An unnamed element, such as the text of an editor, is identified by its id.
            ([], Some(role), Some(id)) => format!("{role} {id}"),
            ([], _, _) => all(),
            (names, _, _) => names.join(" › "),
        };
        // And what it enters there, or does there besides.
        let with = with_what(command, tools);
        // An approval covers the hosts, recipients and files that it named.
        let values =
            subject.values.iter().chain(&subject.standing).filter(|value| value.origin != ValueOrigin::User);
        let mut named: Vec<&str> = values.map(|value| value.text.as_str()).collect();
        named.extend(subject.writes_executed.as_deref());
        // And the dialog, the page, the document and the program that it was asked in.
        let texts = subject.surroundings.texts.iter().chain(&subject.hosts);
        let files = subject.runs.iter().chain(&subject.document);
        named.extend(texts.chain(files).map(String::as_str));
        let values = subject.elsewhere.iter().chain(&subject.uploads);
        named.extend(values.map(|value| value.text.as_str()));
        // One for a secret covers no other secret in the same field.
        let secret = secret::secret_of(command).map(|(name, _)| secret::mark(name));
        named.extend(secret.as_deref());
        let on = if named.is_empty() { on } else { format!("{on} ({})", named.join(", ")) };
        Self { tool: command.tool.clone(), application: subject.application.clone(), on, with }
    }
}

/// Formats the approved action, for the person who approves it.
impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.tool, self.on)?;
        if !self.with.is_empty() {
            write!(f, " with {}", self.with)?;
        }
        if !self.application.is_empty() {
            write!(f, " in {}", self.application)?;
        }
        Ok(())
    }
}

/// The arguments of a command besides the element that it is aimed at.
fn with_what(command: &ToolCommand, tools: &[ToolSpec]) -> String {
    let takes = command.takes_in(tools);
    let is_aim = |name: &String| {
        takes.iter().any(|(known, takes)| known == name && matches!(takes, Takes::Element | Takes::Name))
    };
    let given = command.arguments.iter().filter(|(name, value)| !is_aim(name) && !value.is_null());
    given.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}
