//! A short summary of a window.

use std::collections::BTreeMap;

use deskhand_core::{
    command::Verdict,
    ids::WindowId,
    ui::{Element, State},
};
use deskhand_desktop::{Desktop, DesktopResult};
use serde_json::json;

use crate::{
    patience::read_tree,
    report::{ActionReport, Route},
    verdict::surfaces,
};

/// The most characters of text that are quoted.
const TEXT_MAX: usize = 1_500;

/// Summarizes a window: its surfaces, the focused element, the number of elements per role, and the start of its text.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn summary<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<ActionReport> {
    let mut roles: BTreeMap<String, u32> = BTreeMap::new();
    let (mut titles, mut texts, mut focused) = (Vec::new(), String::new(), None);
    for surface in surfaces(desktop, window).await? {
        titles.push(surface.title.clone());
        for element in read_tree(desktop, surface.id).await?.elements {
            *roles.entry(element.role.to_string()).or_default() += 1;
            if element.states.has(State::Focused) {
                focused = Some(element.label());
            }
            add(&mut texts, &element);
        }
    }
    let elements: u32 = roles.values().sum();
    let told = format!("{} surfaces with {elements} elements: {}", titles.len(), titles.join(", "));
    let output = json!({ "titles": titles, "focused": focused, "roles": roles, "text": texts });
    Ok(ActionReport::new(Verdict::Seen, Route::Semantic, told).with_output(output))
}

fn add(texts: &mut String, element: &Element) {
    let own = element.text.as_deref().unwrap_or(&element.name).trim();
    if !own.is_empty() && texts.chars().count() + own.chars().count() < TEXT_MAX {
        texts.push_str(own);
        texts.push('\n');
    }
}
