//! One element of a user interface.

use serde::{Deserialize, Serialize};

use super::{Role, States, TableShape};
use crate::{
    geometry::{Rect, Screen},
    ids::ElementId,
};

/// Something that an element lets a client do; an AT-SPI interface (a UIA pattern).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// `org.a11y.atspi.Action`
    Action,
    /// `org.a11y.atspi.EditableText`
    EditableText,
    /// `org.a11y.atspi.Selection`
    Selection,
    /// `org.a11y.atspi.Table`
    Table,
    /// `org.a11y.atspi.Text`
    Text,
    /// `org.a11y.atspi.Value`
    Value,
}

/// A numeric value and its range (`org.a11y.atspi.Value`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ValueRange {
    /// The present value.
    pub current: f64,
    /// The smallest value.
    pub minimum: f64,
    /// The largest value.
    pub maximum: f64,
    /// The smallest step; 0 where the control names none.
    pub increment: f64,
}

/// Who says that an element is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Source {
    /// The application, through the accessibility tree.
    #[default]
    #[serde(rename = "at-spi")]
    AtSpi,
    /// Text that was read from a picture.
    #[serde(rename = "ocr")]
    Ocr,
    /// A visual parser that was shown a picture.
    #[serde(rename = "omniparser")]
    Omniparser,
}

impl Source {
    /// The word that is configured, printed and stored.
    pub const fn word(self) -> &'static str {
        match self {
            Self::AtSpi => "at-spi",
            Self::Ocr => "ocr",
            Self::Omniparser => "omniparser",
        }
    }

    const fn is_tree(&self) -> bool {
        matches!(self, Self::AtSpi)
    }
}

/// One element, as it was when it was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Element {
    /// Its id.
    pub id: ElementId,
    /// How deep it lies in its tree; the root has 0. An element's parent is the nearest one before it in
    /// the tree with a smaller depth.
    pub depth: u16,
    /// What kind of control it is.
    pub role: Role,
    /// Its accessible name; empty where it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its accessible description; empty where it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its text, at most [`Element::TEXT_MAX`] characters, where it has text that is not its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its numeric value, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<ValueRange>,
    /// Its states.
    pub states: States,
    /// Where it is; none where the toolkit gives no extents or the element is off the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Rect<Screen>>,
    /// What it lets a client do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<Pattern>,
    /// How many children it has, whether or not they were read.
    #[serde(default)]
    pub child_count: u32,
    /// Rows and columns, for tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<TableShape>,
    /// Who says that it is there.
    #[serde(default, skip_serializing_if = "Source::is_tree")]
    pub source: Source,
}

impl Element {
    /// The longest text that is read for an observation, in characters; tools read more on demand.
    pub const TEXT_MAX: usize = 500;

    /// Whether it offers `pattern`.
    pub fn offers(&self, pattern: Pattern) -> bool {
        self.patterns.contains(&pattern)
    }

    /// How messages name it: `push button "Finish"`.
    pub fn label(&self) -> String {
        if self.name.is_empty() { self.role.to_string() } else { format!("{} \"{}\"", self.role, self.name) }
    }
}
