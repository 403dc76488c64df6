//! Lays out items as lines: indented by nesting, with items of one role and cells of one row on a shared line.

use std::{collections::HashSet, fmt::Write as _};

use super::items::ViewItem;
use deskhand_ui::{Role, State, WindowInfo, WindowKind, text::tokens};

/// The deepest indentation.
const INDENT_MAX: usize = 8;
/// The most items on one line.
const RUN_MAX: usize = 10;
/// From this number of items on, empty table cells are omitted.
const CELLS_LISTED_MAX: usize = 60;

/// The indices of items with content: without the empty cells of large tables.
pub(super) fn worth_listing(items: &[ViewItem<'_>]) -> Vec<usize> {
    let is_cell = |item: &ViewItem<'_>| item.element.role == Role::TABLE_CELL;
    let many = items.iter().filter(|item| is_cell(item)).count() > CELLS_LISTED_MAX;
    let told = |item: &ViewItem<'_>| !(many && is_cell(item) && item.is_empty());
    items.iter().enumerate().filter(|(_, item)| told(item)).map(|(place, _)| place).collect()
}

/// The indices of items that are listed without a search: no buttons without any text, and no disabled buttons outside of dialogs. In a
/// dialog it matters that a button is disabled.
pub(super) fn usually_listed(items: &[ViewItem<'_>], window: &WindowInfo) -> Vec<usize> {
    let says = |item: &ViewItem<'_>| {
        let element = item.element;
        let is_button = [Role::PUSH_BUTTON, Role::TOGGLE_BUTTON].contains(&element.role) && item.leaf;
        let is_disabled = !element.states.takes_input() && window.kind == WindowKind::Normal;
        let is_nameless = item.is_empty() && item.is_alone() && element.description.is_empty();
        !(is_button && (is_disabled || is_nameless) && !element.states.has(State::Focused))
    };
    worth_listing(items).into_iter().filter(|place| items.get(*place).is_some_and(says)).collect()
}

/// The chosen items as lines.
pub(super) fn lines(items: &[ViewItem<'_>], chosen: &HashSet<usize>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut before: Option<(usize, usize)> = None;
    for (place, item) in items.iter().enumerate().filter(|(place, _)| chosen.contains(place)) {
        let run = before.filter(|(last, length)| {
            *length < RUN_MAX && items.get(*last).is_some_and(|last| continues_line(items, last, item))
        });
        match (run, lines.last_mut()) {
            (Some((_, length)), Some(line)) => {
                let _ = write!(line, " | {}", item.text(/*with_role*/ false));
                before = Some((place, length + 1));
            }
            _ => {
                let indent = "  ".repeat(depth(items, chosen, item).min(INDENT_MAX));
                lines.push(format!("{indent}{}", item.text(/*with_role*/ true)));
                before = Some((place, 1));
            }
        }
    }
    lines
}

/// Returns `true` if `next` continues the line of `last`: a neighbour with the same role or, for cells, in the same row unless the
/// table has one column.
fn continues_line(items: &[ViewItem<'_>], last: &ViewItem<'_>, next: &ViewItem<'_>) -> bool {
    const LONG: usize = 60;
    let (one, other) = (last.element, next.element);
    let short =
        |item: &ViewItem<'_>| item.element.text.as_ref().is_none_or(|text| text.chars().count() <= LONG);
    let table = next.parent.and_then(|at| items.get(at)).and_then(|item| item.element.table);
    let same_row = one.role != Role::TABLE_CELL
        || table.is_some_and(|table| table.columns == 1)
        || match (one.bounds, other.bounds) {
            (Some(one), Some(other)) => one.y == other.y,
            (_, _) => true,
        };
    last.leaf
        && next.leaf
        && last.parent == next.parent
        && one.role == other.role
        && same_row
        && short(last)
        && short(next)
}

fn depth(items: &[ViewItem<'_>], chosen: &HashSet<usize>, item: &ViewItem<'_>) -> usize {
    let mut depth = 0;
    let mut next = item.parent;
    while let Some(place) = next {
        depth += usize::from(chosen.contains(&place));
        next = items.get(place).and_then(|item| item.parent);
    }
    depth
}

/// Estimated tokens of an item in a list.
pub(super) fn cost(item: &ViewItem<'_>) -> usize {
    tokens(&item.text(/*with_role*/ true)) + 1
}
