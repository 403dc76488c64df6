//! Labels by nearness: the text that stands beside a field which has no name of its own.
//!
//! It is to the left of the field, else above it, or to the right of a box; near to both in the tree; and it names no other field that is
//! nearer. A list to choose from is often named by what is chosen; the label to its left names it better. A sentence is a notice, no label.

use std::collections::HashMap;

use super::{Element, Role, State, Tree, fold_name};
use crate::{
    geometry::{Rect, Screen},
    ids::ElementId,
};

/// Maximum distance of a label to the left of its field, above it, or to the right of its box, in pixels.
const LEFT_MAX: i32 = 400;
const ABOVE_MAX: i32 = 40;
const RIGHT_MAX: i32 = 40;
/// The longest label, in characters.
const LABEL_CHARS_MAX: usize = 80;
/// The fewest words of a sentence; fewer may be an abbreviation.
const SENTENCE_WORDS_MIN: usize = 4;
/// Maximum height of a field that is labelled on any of its lines, in multiples of the label's height.
const LINES_MAX: i32 = 3;
/// Side on which a label stands, as far as it counts.
const RIGHT: u8 = 0;
const LEFT: u8 = 1;
const ABOVE: u8 = 2;

/// An element of a window as labels and fields see each other.
#[derive(Debug, Clone, Copy)]
pub struct LabelCandidate<'a> {
    /// The element.
    pub element: &'a Element,
    /// Name that people use for it, as far as the tree contains one; may be empty.
    pub called: &'a str,
    /// `true` if a person sees it.
    pub is_shown: bool,
    /// `true` if it is a part of a control, so that it describes that control.
    pub in_control: bool,
}

/// Which of the parts of a window labels the one at `at`.
pub fn label_beside(parts: &[LabelCandidate<'_>], at: usize) -> Option<usize> {
    let own = parts.get(at)?;
    let is_named = !own.called.is_empty();
    let is_choice = own.element.role == Role::COMBO_BOX && own.element.bounds.is_some();
    if is_named && !is_choice || !own.is_shown || !own.element.role.is_field() {
        return None;
    }
    let Some(bounds) = own.element.bounds else {
        let before = (0..at).rev().find(|index| parts.get(*index).is_some_and(|part| part.is_shown))?;
        return parts.get(before).is_some_and(is_label).then_some(before);
    };
    let is_box = ["check box", "radio button", "switch"].contains(&own.element.role.name());
    let near = parts.iter().enumerate().filter(|(_, part)| is_label(part)).filter_map(|(index, part)| {
        let label = part.element.bounds?;
        Some((distance(label, bounds, is_box)?, label, index))
    });
    let (apart, label, found) = near.min_by_key(|(apart, _, _)| *apart)?;
    if is_named && apart.0 != LEFT {
        return None;
    }
    // A label names the field that is nearest to it.
    let is_nearer = |(index, other): (usize, &LabelCandidate<'_>)| {
        let is_other = index != at && other.is_shown && other.element.role.is_field();
        let bounds = other.element.bounds.filter(|_| is_other);
        bounds.and_then(|bounds| distance(label, bounds, is_box)).is_some_and(|other| other < apart)
    };
    (!parts.iter().enumerate().any(is_nearer)).then_some(found)
}

fn is_label(part: &LabelCandidate<'_>) -> bool {
    part.is_shown
        && !part.in_control
        && part.element.role.is_caption()
        && !part.called.is_empty()
        && part.called.chars().count() <= LABEL_CHARS_MAX
        && !is_sentence(part.called)
}

/// Returns the distance of a label from its field; labels on the left rank before those above.
fn distance(label: Rect<Screen>, field: Rect<Screen>, is_box: bool) -> Option<(u8, i32)> {
    // A label beside a large text stands at its first line.
    let lines = field.height.min(label.height.saturating_mul(LINES_MAX));
    let same_line = (field.y..field.y.saturating_add(lines)).contains(&label.center().y)
        || (label.y..label.bottom()).contains(&field.y.saturating_add(lines / 2));
    let left = field.x.saturating_sub(label.right());
    let right = label.x.saturating_sub(field.right());
    let above = field.y.saturating_sub(label.bottom());
    let overlaps = label.x < field.right() && field.x < label.right();
    if same_line && is_box && (-2..=RIGHT_MAX).contains(&right) {
        return Some((RIGHT, right));
    }
    if same_line && (-2..=LEFT_MAX).contains(&left) {
        return Some((LEFT, left));
    }
    (overlaps && (-2..=ABOVE_MAX).contains(&above)).then_some((ABOVE, above))
}

/// Returns `true` if a text says something rather than naming a field: a notice above a text area is not its label.
pub fn is_sentence(text: &str) -> bool {
    let ends =
        text.trim_end().ends_with(['.', '!', '。', '！']) || text.contains(". ") || text.contains('。');
    ends && (text.split_whitespace().count() >= SENTENCE_WORDS_MIN || text.contains(['。', '！']))
}

/// A label that stands beside a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beside<'a> {
    pub label: ElementId,
    pub text: &'a str,
}

/// The labels of fields that the tree has no name for, by field.
pub fn labels_beside(tree: &Tree) -> HashMap<ElementId, Beside<'_>> {
    let parts = parts(tree);
    let label = |at: usize| {
        let (field, label) = (parts.get(at)?, parts.get(label_beside(&parts, at)?)?);
        let is_told = fold_name(field.called) == fold_name(label.called);
        let is_near = near(tree, at, label.element.id);
        let beside = Beside { label: label.element.id, text: label.called };
        (!is_told && is_near).then_some((field.element.id, beside))
    };
    (0..parts.len()).filter_map(label).collect()
}

/// The elements of a tree as parts.
fn parts(tree: &Tree) -> Vec<LabelCandidate<'_>> {
    let mut controls: Vec<&Element> = Vec::new();
    let mut parts = Vec::with_capacity(tree.elements.len());
    for element in &tree.elements {
        let Element { depth, role, name, text, states, source, .. } = element;
        while controls.last().is_some_and(|control| control.depth >= *depth) {
            controls.pop();
        }
        let text = text.as_deref().filter(|_| role.is_caption()).unwrap_or_default();
        let called = if name.trim().is_empty() { text.trim() } else { name.trim() };
        let is_shown = (states.has(State::Showing) || !source.is_tree()) && !states.has(State::Defunct);
        let in_control = controls.iter().any(|control| is_part_of_control(control, element));
        parts.push(LabelCandidate { element, called, is_shown, in_control });
        if is_control(role) {
            controls.push(element);
        }
    }
    parts
}

/// Returns `true` if an element inside of another one says what that is. LibreOffice has the page of a tab inside of the tab.
pub fn is_part_of_control(around: &Element, inner: &Element) -> bool {
    let is_beside = || {
        let (around, inner) = (around.bounds?, inner.bounds?);
        Some(around.intersection(&inner).is_none())
    };
    is_control(&around.role) && !(around.role == Role::PAGE_TAB && is_beside() == Some(true))
}

/// Returns `true` if what is inside an element says what that is. The cells of a table may hold a label and its field.
fn is_control(role: &Role) -> bool {
    role.is_interactive() && *role != Role::TABLE_CELL
}

/// Returns `true` if the element at `at` and another one are in the same part of their window, a few levels above the former.
fn near(tree: &Tree, at: usize, other: ElementId) -> bool {
    const LEVELS_MAX: usize = 4;
    let Some(field) = tree.elements.get(at) else { return false };
    let around =
        tree.ancestors(field.id).take_while(|above| !is_control(&above.role)).take(LEVELS_MAX).last();
    around.is_some_and(|around| tree.descendants(around.id).any(|one| one.id == other))
}

#[cfg(test)]
#[path = "beside_tests.rs"]
mod tests;
