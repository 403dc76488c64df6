//! Reading the text of an element.

use deskhand_desktop::{Desktop, DesktopResult};
use deskhand_ui::{
    Element,
    action::{ActionKind, ActionOutcome, ActionProof, ActionRoute, Aim},
    ids::{ElementId, WindowId},
};
use serde_json::json;

use crate::{
    checks::{TargetRequirement, check},
    patience::read_tree,
    report::{ActionReport, Halt, carry_out},
    text::{characters, read},
};

/// The most characters of one read.
const TEXT_MAX: usize = 20_000;

/// Reads the text of an element: its own, or that of everything in it, line by line.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn read_text<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
) -> DesktopResult<ActionReport> {
    carry_out(ActionKind::ReadText, read_all(desktop, window, id, name)).await
}

async fn read_all<D: Desktop>(
    desktop: &D,
    window: WindowId,
    id: ElementId,
    name: Option<&str>,
) -> Result<ActionReport, Halt> {
    let ready = check(desktop, window, id, name, TargetRequirement::Read).await?;
    let own = read(desktop, &ready.element).await?.filter(|text| !text.trim().is_empty());
    let text = match own {
        Some(text) => text,
        None => {
            let tree = read_tree(desktop, ready.surface.id).await?;
            let lines: Vec<&str> = tree.descendants(id).filter_map(line).collect();
            if lines.is_empty() { ready.element.name.clone() } else { lines.join("\n") }
        }
    };
    let cut: String = text.chars().take(TEXT_MAX).collect();
    let proof = ActionProof::TextRead { characters: characters(&text), given: characters(&cut) };
    let action = ActionOutcome::new(ActionKind::ReadText, Aim::element(&ready.element), proof)
        .by(ActionRoute::Semantic);
    Ok(ActionReport::from(action).with_output(json!({ "text": cut })))
}

fn line(element: &Element) -> Option<&str> {
    element.text.as_deref().or(Some(element.name.as_str())).filter(|text| !text.trim().is_empty())
}
