//! Finds elements by role and name, and the nearest matches.

use deskhand_core::{
    ids::{ElementId, WindowId},
    ui::{Element, Role, WindowInfo},
};
use deskhand_desktop::{Desktop, DesktopResult};

use crate::{patience::read_tree, report::ActionReport, verdict::surfaces};

/// The most names in a refusal.
const CANDIDATES_MAX: usize = 8;

/// A description of an element.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Its role; `None` for any.
    pub role: Option<Role>,
    /// Its name; `None` for any.
    pub name: Option<String>,
}

impl Wanted {
    /// An element by role and name.
    pub fn new(role: Role, name: &str) -> Self {
        Self { role: Some(role), name: Some(name.to_owned()) }
    }

    /// An element by name.
    pub fn named(name: &str) -> Self {
        Self { role: None, name: Some(name.to_owned()) }
    }

    /// Whether an element matches.
    pub fn matches(&self, element: &Element) -> bool {
        self.role.as_ref().is_none_or(|role| *role == element.role)
            && self.name.as_ref().is_none_or(|name| names_equal(name, &element.name))
    }

    /// Its text in messages.
    pub fn label(&self) -> String {
        match (&self.role, &self.name) {
            (Some(role), Some(name)) => format!("{role} \"{name}\""),
            (Some(role), None) => role.to_string(),
            (None, Some(name)) => format!("\"{name}\""),
            (None, None) => "an element".to_owned(),
        }
    }
}

/// Whether two names are equal to a person: ignores case, mnemonics (`_File`, `~File`, `&File`), `…` or `...`, surrounding
/// white space and a trailing colon.
pub fn names_equal(one: &str, other: &str) -> bool {
    fold(one) == fold(other)
}

pub(crate) fn fold(name: &str) -> String {
    let spelled = name.replace('…', "...").replace("›", ">");
    let plain: String = spelled.chars().filter(|c| !matches!(c, '_' | '~' | '&')).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let joined = words.join(" ").to_lowercase();
    let trimmed = joined.trim_end_matches(':').trim_end_matches("...").trim_end();
    trimmed.to_owned()
}

/// Finds an element in a window, its dialogs and pop-ups: the topmost surface wins, and in it an interactive element over a
/// static one.
///
/// # Errors
/// If a tree cannot be read.
pub async fn find_element<D: Desktop>(
    desktop: &D,
    window: WindowId,
    wanted: &Wanted,
) -> DesktopResult<Option<(WindowInfo, Element)>> {
    for surface in surfaces(desktop, window).await?.into_iter().rev() {
        let tree = read_tree(desktop, surface.id).await?;
        let mut found = tree.elements.into_iter().filter(|element| wanted.matches(element));
        let first = found.next();
        let best = match first {
            Some(element) if !element.role.is_interactive() => {
                found.find(|other| other.role.is_interactive()).or(Some(element))
            }
            other => other,
        };
        if let Some(element) = best {
            return Ok(Some((surface, element)));
        }
    }
    Ok(None)
}

/// `; nearest: push button "Finish" (e5), …` for a refusal; empty if there are no candidates.
pub(crate) async fn nearest<D: Desktop>(
    desktop: &D,
    window: WindowId,
    name: &str,
    role: Option<&Role>,
) -> DesktopResult<String> {
    let mut scored: Vec<(f64, String, ElementId)> = Vec::new();
    for surface in surfaces(desktop, window).await? {
        for element in read_tree(desktop, surface.id).await?.elements {
            if element.name.is_empty() || element.depth == 0 {
                continue;
            }
            let mut score = strsim::jaro_winkler(&fold(name), &fold(&element.name));
            if role == Some(&element.role) {
                score += 0.3;
            } else if element.role.is_interactive() {
                score += 0.1;
            }
            scored.push((score, element.label(), element.id));
        }
    }
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    let named: Vec<String> =
        scored.iter().take(CANDIDATES_MAX).map(|(_, label, id)| format!("{label} ({id})")).collect();
    Ok(if named.is_empty() { String::new() } else { format!("; nearest: {}", named.join(", ")) })
}

/// The names most similar to `name`, best first, for a refusal.
pub(crate) fn nearest_names<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut scored: Vec<(f64, &str)> = names
        .filter(|other| !other.is_empty())
        .map(|other| (strsim::jaro_winkler(&fold(name), &fold(other)), other))
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    scored.into_iter().map(|(_, other)| other).take(CANDIDATES_MAX).collect()
}

impl ActionReport {
    /// Adds the window of the action.
    #[must_use]
    pub fn with_window(mut self, window: Option<WindowInfo>) -> Self {
        self.window = window;
        self
    }
}
