//! Merges the elements of an application with what was read and parsed, without duplicates.

use std::collections::HashMap;

use deskhand_ui::{
    Element, ElementSource, Role, Tree,
    geometry::{Rect, Screen},
    ids::ElementId,
};

use deskhand_desktop::alike::{alike, occurs};

use crate::{
    omniparser::ParsedBox,
    options::MergeOptions,
    overlap::{intersection_over_union, padded, share_inside},
    words::OcrLabel,
};

/// Maximum distance by which text may extend beyond its element, in pixels: the extents of toolkits are not
/// exact.
const MARGIN: i32 = 3;

/// Maximum distance of text beside its element, in multiples of the text's height.
const BESIDE: i32 = 2;

/// Something that was detected in a picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DetectedElement {
    /// Detector that found it.
    pub(crate) source: ElementSource,
    /// [`Role::DRAWN_TEXT`] or [`Role::DRAWN_ICON`].
    pub(crate) role: Role,
    /// Its text; empty if unknown.
    pub(crate) words: String,
    /// Its bounds.
    pub(crate) bounds: Rect<Screen>,
}

impl DetectedElement {
    fn of_label(label: &OcrLabel) -> Self {
        let (words, bounds) = (label.text.clone(), label.bounds);
        Self { source: ElementSource::Ocr, role: Role::DRAWN_TEXT, words, bounds }
    }

    fn of_box(parsed: &ParsedBox) -> Self {
        let role = if parsed.is_text { Role::DRAWN_TEXT } else { Role::DRAWN_ICON };
        let (words, bounds) = (parsed.content.clone(), parsed.bounds);
        Self { source: ElementSource::Omniparser, role, words, bounds }
    }
}

/// Merges text and boxes into one list. A box that contains one text is the control of that text; one that contains
/// several is a container, and they remain.
pub(crate) fn unite(
    labels: &[OcrLabel],
    boxes: &[ParsedBox],
    options: &MergeOptions,
) -> Vec<DetectedElement> {
    let mut left: Vec<Option<&OcrLabel>> = labels.iter().map(Some).collect();
    let mut united = Vec::new();
    for parsed in boxes {
        let twin = |other: &DetectedElement| {
            intersection_over_union(&other.bounds, &parsed.bounds) >= options.iou
                && (other.words.is_empty()
                    || parsed.content.is_empty()
                    || alike(&other.words, &parsed.content))
        };
        if united.iter().any(twin) {
            continue;
        }
        let belongs =
            |label: &OcrLabel| share_inside(&label.bounds, &padded(&parsed.bounds, MARGIN)) >= options.inside;
        let inside: Vec<usize> = left
            .iter()
            .enumerate()
            .filter(|(_, label)| label.is_some_and(belongs))
            .map(|(place, _)| place)
            .collect();
        let mut detected = DetectedElement::of_box(parsed);
        let several = inside.len() > 1;
        for place in inside {
            let Some(slot) = left.get_mut(place) else { continue };
            let Some(label) = *slot else { continue };
            let is_named = !detected.words.is_empty() && occurs(&label.text, &detected.words);
            let same_place = intersection_over_union(&label.bounds, &parsed.bounds) >= options.iou;
            if is_named || same_place || (!several && parsed.interactive) {
                // Text on a control says more than its appearance.
                if !is_named {
                    detected.words.clone_from(&label.text);
                }
                *slot = None;
            }
        }
        united.push(detected);
    }
    united.extend(left.into_iter().flatten().map(DetectedElement::of_label));
    united
}

/// Returns what the tree lacks of `detected`. Text inside an element without text becomes the description of that
/// element instead.
pub(crate) fn merge(
    tree: &mut Tree,
    detected: Vec<DetectedElement>,
    options: &MergeOptions,
) -> Vec<DetectedElement> {
    let leaves = leaves(tree);
    let mut notes: HashMap<ElementId, String> = HashMap::new();
    let mut lacking = Vec::new();
    for one in detected {
        match home(tree, &leaves, &one, options) {
            Home::None => lacking.push(one),
            Home::Known => {}
            Home::Unnamed(id) if one.words.is_empty() => drop(notes.entry(id).or_default()),
            Home::Unnamed(id) => {
                let note = notes.entry(id).or_default();
                let separator = if note.is_empty() { "" } else { " " };
                note.push_str(&format!("{separator}{} (by {})", one.words, one.source.word()));
            }
        }
    }
    for element in &mut tree.elements {
        if let Some(note) = notes.remove(&element.id).filter(|note| !note.is_empty()) {
            element.description = note;
        }
    }
    lacking
}

/// Counterpart of a detected element in the tree.
enum Home {
    /// The tree has nothing for it.
    None,
    /// An element represents it.
    Known,
    /// An element without text represents it.
    Unnamed(ElementId),
}

fn home(tree: &Tree, leaves: &[bool], one: &DetectedElement, options: &MergeOptions) -> Home {
    let mut unnamed = None;
    for (element, leaf) in tree.elements.iter().zip(leaves).rev() {
        let Some(bounds) = element.bounds.filter(|bounds| !bounds.is_empty()) else { continue };
        let inside = share_inside(&one.bounds, &padded(&bounds, MARGIN)) >= options.inside;
        let same_place = *leaf && intersection_over_union(&one.bounds, &bounds) >= options.iou;
        if !inside && !same_place {
            // The extents of toolkits leave out what precedes a text, such as its indentation.
            let beside = padded(&one.bounds, BESIDE * one.bounds.height).intersection(&bounds).is_some();
            let in_line = bounds.y <= one.bounds.center().y && one.bounds.center().y < bounds.bottom();
            if *leaf && beside && in_line && is_one_control(&element.role) && alike(&one.words, &element.name)
            {
                return Home::Known;
            }
            continue;
        }
        if !one.words.is_empty() && says(element, &one.words) {
            return Home::Known;
        }
        let stands_for_it =
            *leaf && (is_one_control(&element.role) || (same_place && !is_place(&element.role)));
        if stands_for_it && unnamed.is_none() {
            if is_named(element) {
                return Home::Known;
            }
            unnamed = Some(element.id);
        }
    }
    unnamed.map_or(Home::None, Home::Unnamed)
}

/// For each element of a tree, whether it is a leaf.
fn leaves(tree: &Tree) -> Vec<bool> {
    let next = tree.elements.iter().skip(1).map(|element| element.depth).chain([0]);
    tree.elements.iter().zip(next).map(|(element, next)| next <= element.depth).collect()
}

/// Returns `true` if an element has this text. One whose text was cut off may have it in the rest. A container has it only if
/// it has no other content, and the name of a window says nothing about its content.
fn says(element: &Element, words: &str) -> bool {
    if is_place(&element.role) {
        return element.role.is_structural() && !element.name.is_empty() && alike(words, &element.name);
    }
    let text = element.text.as_deref().unwrap_or_default();
    let cut = text.chars().count() >= Element::TEXT_MAX;
    let value = element.value.map(|value| value.current.to_string()).unwrap_or_default();
    let own = [element.name.as_str(), text, element.description.as_str(), value.as_str()];
    cut || own.iter().any(|own| !own.is_empty() && occurs(words, own))
}

fn is_named(element: &Element) -> bool {
    let text = element.text.as_deref().unwrap_or_default();
    !(element.name.is_empty() && element.description.is_empty() && text.is_empty())
}

/// Returns `true` if a click anywhere on such an element activates it.
fn is_one_control(role: &Role) -> bool {
    const CONTROLS: &[Role] = &[
        Role::CHECK_BOX,
        Role::CHECK_MENU_ITEM,
        Role::COMBO_BOX,
        Role::ENTRY,
        Role::HEADING,
        Role::ICON,
        Role::LABEL,
        Role::LINK,
        Role::LIST_ITEM,
        Role::MENU,
        Role::MENU_ITEM,
        Role::PAGE_TAB,
        Role::PASSWORD_TEXT,
        Role::PUSH_BUTTON,
        Role::RADIO_BUTTON,
        Role::RADIO_MENU_ITEM,
        Role::SLIDER,
        Role::SPIN_BUTTON,
        Role::STATIC,
        Role::TABLE_CELL,
        Role::TOGGLE_BUTTON,
        Role::TREE_ITEM,
    ];
    CONTROLS.contains(role)
}

/// Returns `true` if such an element may contain anything.
fn is_place(role: &Role) -> bool {
    const PLACES: &[Role] = &[
        Role::CANVAS,
        Role::DIALOG,
        Role::DOCUMENT_SPREADSHEET,
        Role::DOCUMENT_TEXT,
        Role::DOCUMENT_WEB,
        Role::DRAWING_AREA,
        Role::FRAME,
        Role::WINDOW,
    ];
    role.is_structural() || PLACES.contains(role)
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
