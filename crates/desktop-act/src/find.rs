//! Finds elements by role and name, and the nearest matches.

use deskhand_core::{
    action::ElementRef,
    ids::WindowId,
    ui::{Element, Role, Wanted, WindowInfo, fold_name},
};
use deskhand_desktop::{Desktop, DesktopResult};

use crate::{patience::read_tree, surfaces::surfaces};

/// The most names in a refusal.
const CANDIDATES_MAX: usize = 8;

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

/// The elements with the most similar names, best first, for a refusal.
pub(crate) async fn nearest<D: Desktop>(
    desktop: &D,
    window: WindowId,
    name: &str,
    role: Option<&Role>,
) -> DesktopResult<Vec<ElementRef>> {
    let mut scored: Vec<(f64, ElementRef)> = Vec::new();
    for surface in surfaces(desktop, window).await? {
        for element in read_tree(desktop, surface.id).await?.elements {
            if element.name.is_empty() || element.depth == 0 {
                continue;
            }
            let mut score = strsim::jaro_winkler(&fold_name(name), &fold_name(&element.name));
            if role == Some(&element.role) {
                score += 0.3;
            } else if element.role.is_interactive() {
                score += 0.1;
            }
            scored.push((score, (&element).into()));
        }
    }
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    Ok(scored.into_iter().map(|(_, element)| element).take(CANDIDATES_MAX).collect())
}

/// The names most similar to `name`, best first, for a refusal.
pub(crate) fn nearest_names<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut scored: Vec<(f64, &str)> = names
        .filter(|other| !other.is_empty())
        .map(|other| (strsim::jaro_winkler(&fold_name(name), &fold_name(other)), other))
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    scored.into_iter().map(|(_, other)| other.to_owned()).take(CANDIDATES_MAX).collect()
}
