//! The selector as it is stored.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::naming::NamePattern;
use deskhand_ui::{Role, WindowKind, element_label};

/// An element by its role and name, written as in messages: `push button "Save"`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct SelectorAnchor {
    /// Its role.
    pub role: Role,
    /// Its name; empty if it has none.
    pub name: String,
}

/// A text that names no element.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a role and a name such as `push button \"Save\"`")]
pub struct ParseAnchorError(pub String);

impl fmt::Display for SelectorAnchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&element_label(&self.role, &self.name))
    }
}

impl FromStr for SelectorAnchor {
    type Err = ParseAnchorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseAnchorError(text.to_owned());
        let (role, rest) = text.split_once('"').unwrap_or((text, "\""));
        let name = rest.strip_suffix('"').ok_or_else(error)?;
        let role = role.trim();
        if role.is_empty() {
            return Err(error());
        }
        Ok(Self { role: Role::new(role.to_owned()), name: name.to_owned() })
    }
}

impl From<SelectorAnchor> for String {
    fn from(anchor: SelectorAnchor) -> Self {
        anchor.to_string()
    }
}

impl TryFrom<String> for SelectorAnchor {
    type Error = ParseAnchorError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// The window, dialog or pop-up in which an element was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectorScope {
    /// Its kind.
    pub kind: WindowKind,
    /// Pattern of its title; `None` if it had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<NamePattern>,
    /// Role of its root; `None` for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Host and path of the page that the element was in, without port, query and numbers; `None` if it was in no page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// Named controls spread over the window, in reading order, at most [`SelectorScope::LANDMARKS_MAX`]: the window is recognised by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub landmarks: Vec<SelectorAnchor>,
    /// Number of named controls in the window, without those in rows; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub controls: u32,
}

impl SelectorScope {
    /// The most landmarks.
    pub const LANDMARKS_MAX: usize = 10;
}

/// An element of a recorded step, by what it is recognised by. Empty parts are left out where it is stored; an absent part is not
/// compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selector {
    /// Its role.
    pub role: Role,
    /// Its name; `None` if it had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<NamePattern>,
    /// Text of the label that stood beside it, if it had no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// An id that its developers gave it. Not compared yet: elements carry none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Texts that stand in its row, all of them; a workflow may put a parameter here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub row: Vec<String>,
    /// Header of its column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Named containers around it, outermost first, at most [`Selector::WITHIN_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<SelectorAnchor>,
    /// Named elements before it in reading order, the nearest first, at most [`Selector::NEIGHBOURS_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<SelectorAnchor>,
    /// Named elements after it, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<SelectorAnchor>,
    /// Its accessible description or tooltip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Key chord that its name or description shows, such as `ctrl+s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<String>,
    /// Smallest and largest value of a slider, spin button or the like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Which of the controls of its role in its container, from 1; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nth: u32,
    /// Number of controls of its role in its container.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub of: u32,
    /// Its centre as fractions of the window's width and height, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<[f64; 2]>,
    /// Number of other controls in the window that had its name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub doubles: u32,
    /// Number of these in the same named containers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub doubles_inside: u32,
    /// Names of other elements in the window that are similar to its own: it never has one of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlike: Vec<String>,
    /// The window, dialog or pop-up it was in.
    pub scope: SelectorScope,
}

impl Selector {
    /// The most named containers.
    pub const WITHIN_MAX: usize = 4;
    /// The most neighbours on each side.
    pub const NEIGHBOURS_MAX: usize = 2;
    /// The most similar names.
    pub const UNLIKE_MAX: usize = 8;

    /// Returns the name that people use for the element: its name, else its label, else its help text; empty if it
    /// has none.
    pub fn called(&self) -> String {
        let name = self.name.as_ref().map(NamePattern::plain);
        name.or_else(|| self.label.clone()).or_else(|| self.help.clone()).unwrap_or_default()
    }

    /// The element in messages: `push button "Delete" in the row of "Milk"`.
    pub fn describe(&self) -> String {
        let mut text = element_label(&self.role, &self.called());
        if !self.row.is_empty() {
            text.push_str(&format!(" in the row of \"{}\"", self.row.join("\", \"")));
        }
        if let Some(column) = &self.column {
            text.push_str(&format!(" in the column \"{column}\""));
        }
        if let Some(container) = self.within.last() {
            text.push_str(&format!(" in {container}"));
        }
        text
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
