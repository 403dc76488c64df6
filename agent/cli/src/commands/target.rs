//! Finds elements named on the command line: by id, name, role, both, or a point.

use deskhand_desktop::{Desktop, TreeLimits, WindowManagement};
use deskhand_desktop_act::ActionTarget;
use deskhand_ui::{
    self, Element, Role, WindowInfo,
    ids::WindowId,
    names_equal,
    suggest::{POSSIBLE_MIN, rank, similarity},
};

use crate::{args::TargetText, exit::CliError};

/// The most elements to list in a message.
const LISTED_MAX: usize = 8;

/// A target, with its element if it is one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CommandLineTarget {
    pub(super) target: ActionTarget,
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
) -> Result<CommandLineTarget, CliError> {
    let words = match wanted {
        TargetText::Point(point) => {
            return Ok(CommandLineTarget { target: ActionTarget::Point(*point), element: None });
        }
        TargetText::Id(id) => id.to_string(),
        TargetText::Words(words) => words.clone(),
    };
    let mut seen: Vec<Element> = Vec::new();
    for surface in surfaces(desktop, window.id).await? {
        let sight = desktop.see(surface, TreeLimits::default()).await?;
        let tree = sight.tree;
        match choose(&tree.elements, wanted) {
            TargetElementMatch::One(element) => {
                let target = ActionTarget::Element { id: element.id, name: Some(element.name.clone()) };
                return Ok(CommandLineTarget { target, element: Some(element.clone()) });
            }
            TargetElementMatch::Several(elements) => {
                return Err(CliError::new(format!("{} elements match `{words}`", elements.len()))
                    .with_help(format!("use an id: {}", listed(&elements))));
            }
            TargetElementMatch::None => seen.extend(tree.elements),
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
async fn surfaces<D: WindowManagement>(desktop: &D, window: WindowId) -> Result<Vec<WindowId>, CliError> {
    let windows = desktop.windows().await?;
    let own = deskhand_ui::surfaces(&windows, window).unwrap_or_default();
    let in_front = own.iter().rev().map(|other| other.id).filter(|id| *id != window);
    Ok(in_front.chain([window]).collect())
}

enum TargetElementMatch<'a> {
    One(&'a Element),
    Several(Vec<&'a Element>),
    None,
}

/// Prefers names over roles, and elements to act on over labels.
fn choose<'a>(elements: &'a [Element], wanted: &TargetText) -> TargetElementMatch<'a> {
    let words = match wanted {
        TargetText::Id(id) => {
            return elements
                .iter()
                .find(|element| element.id == *id)
                .map_or(TargetElementMatch::None, TargetElementMatch::One);
        }
        TargetText::Point(_) => return TargetElementMatch::None,
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
            ([one], _) | ([], [one]) => return TargetElementMatch::One(one),
            ([], []) => {}
            ([], _) => return TargetElementMatch::Several(matching),
            (_, _) => return TargetElementMatch::Several(acting),
        }
    }
    TargetElementMatch::None
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
