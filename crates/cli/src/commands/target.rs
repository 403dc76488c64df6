//! Finds elements named on the command line: by id, name, role, both, or a point.

use deskhand_core::{
    ids::WindowId,
    suggest::{POSSIBLE_MIN, rank, similarity},
    ui::{self, Element, Role, WindowInfo, names_equal},
};
use deskhand_desktop::{Desktop, TreeLimits, Windowing};
use deskhand_desktop_act::Target;

use crate::{args::TargetText, exit::CliError};

/// The most elements to list in a message.
const LISTED_MAX: usize = 8;

/// A target, with its element if it is one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) target: Target,
    pub(super) element: Option<Element>,
}

/// Finds the target in a window, its dialogs and pop-ups, topmost first.
///
/// # Errors
/// No element or several elements match.
pub(super) async fn find<D: Desktop>(
    desktop: &D,
    window: &WindowInfo,
    wanted: &TargetText,
) -> Result<Found, CliError> {
    let words = match wanted {
        TargetText::Point(point) => return Ok(Found { target: Target::Point(*point), element: None }),
        TargetText::Id(id) => id.to_string(),
        TargetText::Words(words) => words.clone(),
    };
    let mut seen: Vec<Element> = Vec::new();
    for surface in surfaces(desktop, window.id).await? {
        let sight = desktop.see(surface, TreeLimits::default()).await?;
        let tree = sight.tree;
        match choose(&tree.elements, wanted) {
            Choice::One(element) => {
                let target = Target::Element { id: element.id, name: Some(element.name.clone()) };
                return Ok(Found { target, element: Some(element.clone()) });
            }
            Choice::Several(elements) => {
                return Err(CliError::new(format!("{} elements match `{words}`", elements.len()))
                    .with_help(format!("use an id: {}", listed(&elements))));
            }
            Choice::None => seen.extend(tree.elements),
        }
    }
    let error = CliError::new(format!("no element matches `{words}` in {}", window.label()));
    let near = nearest(&seen, &words);
    Err(if near.is_empty() {
        error.with_help("`deskhand tree` lists the elements")
    } else {
        error.with_help(format!("closest: {}", listed(&near)))
    })
}

/// The windows to search: dialogs and pop-ups in front, then the window itself.
async fn surfaces<D: Windowing>(desktop: &D, window: WindowId) -> Result<Vec<WindowId>, CliError> {
    let windows = desktop.windows().await?;
    let own = ui::surfaces(&windows, window).unwrap_or_default();
    let in_front = own.iter().rev().map(|other| other.id).filter(|id| *id != window);
    Ok(in_front.chain([window]).collect())
}

enum Choice<'a> {
    One(&'a Element),
    Several(Vec<&'a Element>),
    None,
}

/// Prefers names over roles, and elements to act on over labels.
fn choose<'a>(elements: &'a [Element], wanted: &TargetText) -> Choice<'a> {
    let words = match wanted {
        TargetText::Id(id) => {
            return elements.iter().find(|element| element.id == *id).map_or(Choice::None, Choice::One);
        }
        TargetText::Point(_) => return Choice::None,
        TargetText::Words(words) => words,
    };
    let by_label =
        |element: &&Element| !element.name.is_empty() && element.label().eq_ignore_ascii_case(words);
    let by_name = |element: &&Element| !element.name.is_empty() && names_equal(&element.name, words);
    let by_role = |element: &&Element| element.role == Role::new(words.to_lowercase());
    let rules: [&dyn Fn(&&'a Element) -> bool; 3] = [&by_label, &by_name, &by_role];
    for rule in rules {
        let matching: Vec<&Element> = elements.iter().filter(rule).collect();
        let acting: Vec<&Element> =
            matching.iter().copied().filter(|element| element.role.is_interactive()).collect();
        match (acting.as_slice(), matching.as_slice()) {
            ([one], _) | ([], [one]) => return Choice::One(one),
            ([], []) => {}
            ([], _) => return Choice::Several(matching),
            (_, _) => return Choice::Several(acting),
        }
    }
    Choice::None
}

fn nearest<'a>(elements: &'a [Element], words: &str) -> Vec<&'a Element> {
    let candidates =
        elements.iter().filter(|element| !element.name.is_empty() || element.role.is_interactive());
    let mut near = rank(candidates, POSSIBLE_MIN, |element| {
        similarity(words, &element.name).max(similarity(words, element.role.name()))
    });
    near.truncate(LISTED_MAX);
    near
}

fn listed(elements: &[&Element]) -> String {
    let lines: Vec<String> = elements
        .iter()
        .take(LISTED_MAX)
        .map(|element| format!("{} [{}]", element.label(), element.id))
        .collect();
    lines.join(", ")
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
