//! An element of a user interface.

use serde::{Deserialize, Serialize};

use super::{Role, States, TableShape, element_label};
use crate::{
    geometry::{Rect, Screen},
    ids::ElementId,
};

/// A capability of an element; an AT-SPI interface (a UIA pattern).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElementCapability {
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
    /// Current value.
    pub current: f64,
    /// The smallest value.
    pub minimum: f64,
    /// The largest value.
    pub maximum: f64,
    /// Smallest step; 0 if unknown.
    pub increment: f64,
}

/// Source in which an element was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum ElementSource {
    /// The accessibility tree.
    #[default]
    #[serde(rename = "at-spi")]
    AtSpi,
    /// Text recognised in a picture.
    #[serde(rename = "ocr")]
    Ocr,
    /// A visual parser.
    #[serde(rename = "omniparser")]
    Omniparser,
}

impl ElementSource {
    /// The word used in configuration, output and journals.
    pub const fn word(self) -> &'static str {
        match self {
            Self::AtSpi => "at-spi",
            Self::Ocr => "ocr",
            Self::Omniparser => "omniparser",
        }
    }

    /// Returns `true` if it is the accessibility tree, not a picture.
    pub const fn is_tree(&self) -> bool {
        matches!(self, Self::AtSpi)
    }
}

/// An element as of when it was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Element {
    /// Its id.
    pub id: ElementId,
    /// Depth in its tree; 0 for the root. The parent is the nearest preceding element with a smaller depth.
    pub depth: u16,
    /// Kind of control.
    pub role: Role,
    /// Accessible name; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Accessible description; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Text that is not its name, at most [`Element::TEXT_MAX`] characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Numeric value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<ValueRange>,
    /// Its states.
    pub states: States,
    /// Bounds; `None` if the toolkit reports none or the element is off-screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Rect<Screen>>,
    /// Supported patterns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<ElementCapability>,
    /// Number of children, including those not read; [`Element::UNCOUNTED`] if there are more than the application tells.
    #[serde(default)]
    pub child_count: u32,
    /// Rows and columns of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<TableShape>,
    /// Address (URL) of the document, for the document of a page, clipped like a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Further information from its application, in a few words: `page 2 of 5`, `Heading 1`, `stored 0.122`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
    /// Source in which it was found.
    #[serde(default, skip_serializing_if = "ElementSource::is_tree")]
    pub source: ElementSource,
    /// The id that it was asked for by: that of an element that is gone and whose place it took.
    #[serde(skip)]
    pub instead_of: Option<ElementId>,
}

impl Element {
    /// An element of an application of which only these are known; at depth 0, without states.
    pub fn new(id: ElementId, role: Role, name: impl Into<String>) -> Self {
        Self {
            id,
            depth: 0,
            role,
            name: name.into(),
            description: String::new(),
            text: None,
            value: None,
            states: States::EMPTY,
            bounds: None,
            patterns: Vec::new(),
            child_count: 0,
            table: None,
            address: None,
            told: None,
            source: ElementSource::AtSpi,
            instead_of: None,
        }
    }
}

impl Element {
    /// The longest text in an observation, in characters; tools can read more.
    pub const TEXT_MAX: usize = 500;

    /// The longest [`Element::told`], in characters.
    pub const TOLD_MAX: usize = 100;

    /// The number of children of an element whose application tells only of some of them.
    pub const UNCOUNTED: u32 = u32::MAX;

    /// Of how many of its parts the names stand for an element without one.
    pub const PARTS_MAX: usize = 8;

    /// Returns `true` if it has no name of its own and is pressed as a whole, so that the names of its parts say what it is.
    pub fn is_named_by_parts(&self) -> bool {
        const WHOLE: [Role; 6] = [
            Role::LINK,
            Role::LIST_ITEM,
            Role::PUSH_BUTTON,
            Role::TABLE_CELL,
            Role::TOGGLE_BUTTON,
            Role::TREE_ITEM,
        ];
        self.name.trim().is_empty() && WHOLE.contains(&self.role)
    }

    /// Returns `true` if it supports `pattern`.
    pub fn offers(&self, pattern: ElementCapability) -> bool {
        self.patterns.contains(&pattern)
    }

    /// Its name in messages: `push button "Finish"`.
    pub fn label(&self) -> String {
        element_label(&self.role, &self.name)
    }
}
