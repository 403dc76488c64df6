//! A short summary of a window.

use std::collections::BTreeMap;

use deskhand_desktop::{Desktop, DesktopResult};
use deskhand_ui::{
    Element, State,
    action::{ActionKind, ActionOutcome, ActionProof, ActionRoute, Aim},
    ids::WindowId,
};
use serde_json::json;

use crate::{patience::read_tree, report::ActionReport, surfaces::surfaces};

/// The most characters of text that are quoted.
const TEXT_MAX: usize = 1_500;

/// Summarizes a window: its surfaces, the focused element, the number of elements per role, and the start of its text.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn summary<D: Desktop>(desktop: &D, window: WindowId) -> DesktopResult<ActionReport> {
    let mut roles: BTreeMap<String, u32> = BTreeMap::new();
    let (mut titles, mut texts, mut focused) = (Vec::new(), String::new(), None);
    let mut aim = None;
    for surface in surfaces(desktop, window).await? {
        if surface.id == window {
            aim = Some(Aim::window(&surface));
        }
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
    let proof = ActionProof::Summarized { titles: titles.clone(), elements: u64::from(elements) };
    let output = json!({ "titles": titles, "focused": focused, "roles": roles, "text": texts });
    let action = ActionOutcome::new(ActionKind::ReadSummary, aim.unwrap_or(Aim::Unresolved), proof)
        .by(ActionRoute::Semantic);
    Ok(ActionReport::from(action).with_output(output))
}

fn add(texts: &mut String, element: &Element) {
    let own = element.text.as_deref().unwrap_or(&element.name).trim();
    if !own.is_empty() && texts.chars().count() + own.chars().count() < TEXT_MAX {
        texts.push_str(own);
        texts.push('\n');
    }
}
