//! Names as people write them, and elements by role and name.

use serde::{Deserialize, Serialize};

use super::{Element, Role};

/// Returns `true` if two names are equal to a person: ignores case, mnemonics (`_File`, `~File`, `&File`), `…` or `...`, surrounding
/// white space, a trailing colon, invisible characters and the form of an apostrophe.
pub fn names_equal(one: &str, other: &str) -> bool {
    fold_name(one) == fold_name(other)
}

/// Returns the name that people use for an element: its name, else its description, as for a button that shows
/// a picture.
pub fn called(element: &Element) -> &str {
    if element.name.trim().is_empty() { &element.description } else { &element.name }
}

/// The form in which names are compared.
pub fn fold_name(name: &str) -> String {
    let spelled = name.replace('…', "...").replace('›', ">").replace('’', "'");
    let plain: String =
        spelled.chars().filter(|c| !matches!(c, '_' | '~' | '&') && !is_invisible(*c)).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let joined = words.join(" ").to_lowercase();
    let trimmed = joined.trim_end_matches(':').trim_end_matches("...").trim_end();
    trimmed.to_owned()
}

/// Returns `true` if a character shows nothing: soft hyphens, joiners, and marks of the direction of writing
/// (Unicode, Default_Ignorable_Code_Point and Bidi_Control).
const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// A description of an element.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ElementQuery {
    /// Its role; `None` for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Its name; `None` for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl ElementQuery {
    /// An element by role and name.
    pub fn new(role: Role, name: &str) -> Self {
        Self { role: Some(role), name: Some(name.to_owned()) }
    }

    /// An element by name.
    pub fn named(name: &str) -> Self {
        Self { role: None, name: Some(name.to_owned()) }
    }

    /// Returns `true` if an element matches.
    pub fn matches(&self, element: &Element) -> bool {
        self.role.as_ref().is_none_or(|role| *role == element.role)
            && self.name.as_ref().is_none_or(|name| names_equal(name, &element.name))
    }

    /// Its text in messages.
    pub fn label(&self) -> String {
        match (&self.role, &self.name) {
            (Some(role), Some(name)) => element_label(role, name),
            (Some(role), None) => role.to_string(),
            (None, Some(name)) => format!("\"{name}\""),
            (None, None) => "an element".to_owned(),
        }
    }
}

/// An element in messages: `push button "Finish"`.
pub fn element_label(role: &Role, name: &str) -> String {
    if name.is_empty() { role.to_string() } else { format!("{role} \"{name}\"") }
}
