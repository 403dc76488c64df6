//! Finds elements by role and name, and the nearest matches.

use deskhand_desktop::{Desktop, DesktopResult};
use deskhand_ui::{
    Element, ElementQuery, Role, WindowInfo,
    action::ElementRef,
    fold_name,
    ids::WindowId,
    suggest::{rank, similarity},
};

use crate::{
    patience::read_tree,
    surfaces::surfaces,
    words::{called, drawn_words},
};

/// The most names in a refusal.
const CANDIDATES_MAX: usize = 8;

/// Finds an element in a window, its dialogs and pop-ups: the topmost surface wins, and in it an interactive element over a
/// static one. Words that are only drawn are found last.
///
/// # Errors
/// If a tree cannot be read.
pub async fn find_element<D: Desktop>(
    desktop: &D,
    window: WindowId,
    wanted: &ElementQuery,
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
    for surface in surfaces(desktop, window).await?.into_iter().rev() {
        let drawn = drawn_words(desktop, surface.id).await?;
        if let Some(element) = called(&drawn, wanted) {
            return Ok(Some((surface, element.clone())));
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
    let mut elements = Vec::new();
    for surface in surfaces(desktop, window).await? {
        elements.extend(read_tree(desktop, surface.id).await?.elements);
    }
    elements.retain(|element| !element.name.is_empty() && element.depth > 0);
    let ranked = rank(elements, /*similarity_min*/ 0.0, |element| {
        let preference = match role {
            Some(role) if *role == element.role => 0.3,
            Some(_) | None if element.role.is_interactive() => 0.1,
            Some(_) | None => 0.0,
        };
        similarity(&fold_name(name), &fold_name(&element.name)) + preference
    });
    Ok(ranked.iter().take(CANDIDATES_MAX).map(ElementRef::from).collect())
}

/// The names most similar to `name`, best first, for a refusal.
pub(crate) fn nearest_names<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let named = names.filter(|other| !other.is_empty());
    let folded = fold_name(name);
    let ranked = rank(named, /*similarity_min*/ 0.0, |other| similarity(&folded, &fold_name(other)));
    ranked.into_iter().take(CANDIDATES_MAX).map(str::to_owned).collect()
}
