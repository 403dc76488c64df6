//! Labels beside fields, rows and columns.

use super::{
    roles::{is_caption, is_field},
    scene::{Node, Scene},
};
use crate::{
    geometry::{Rect, Screen},
    ui::{CellRef, Role, fold_name},
};

/// How far a label may stand to the left of its field, above it, or to the right of its box, in pixels.
const LEFT_MAX: i32 = 400;
const ABOVE_MAX: i32 = 40;
const RIGHT_MAX: i32 = 40;
/// The longest label, in characters.
const LABEL_CHARS_MAX: usize = 80;
/// The fewest words of a sentence; fewer may be an abbreviation.
const SENTENCE_WORDS_MIN: usize = 4;
/// Where a label stands, as far as it counts.
const RIGHT: u8 = 0;
const LEFT: u8 = 1;
const ABOVE: u8 = 2;
/// The most texts of a row that are read.
const ROW_MAX: usize = 32;

/// The text of the label beside a field without a name: to the left, else above, to the right of a box, or just before it. A list to
/// choose from is often named by what is chosen; the label to its left names it better.
pub(super) fn label_beside(scene: &Scene<'_>, at: usize) -> Option<String> {
    let own = scene.node(at)?;
    let is_named = !own.called.is_empty();
    let is_choice = own.element.role == Role::COMBO_BOX && own.element.bounds.is_some();
    if is_named && !is_choice || !own.is_shown || !is_field(&own.element.role) {
        return None;
    }
    let is_label = |node: &Node<'_>| {
        node.is_shown
            && is_caption(&node.element.role)
            && !node.called.is_empty()
            && node.called.chars().count() <= LABEL_CHARS_MAX
            && !is_sentence(&node.called)
    };
    let Some(bounds) = own.element.bounds else {
        let before = (0..at).rev().filter_map(|index| scene.node(index)).find(|node| node.is_shown)?;
        return is_label(before).then(|| before.called.clone());
    };
    let is_box = ["check box", "radio button", "switch"].contains(&own.element.role.name());
    let labels = scene.shown().filter(|(_, node)| is_label(node));
    let near = labels.filter_map(|(_, node)| {
        let label = node.element.bounds?;
        Some((distance(label, bounds, is_box)?, label, node))
    });
    let (apart, label, node) = near.min_by_key(|(apart, _, _)| *apart)?;
    if is_named && apart.0 != LEFT {
        return None;
    }
    // A label names the field that is nearest to it.
    let is_nearer = |(index, other): (usize, &Node<'_>)| {
        let bounds = other.element.bounds.filter(|_| index != at && is_field(&other.element.role));
        bounds.and_then(|bounds| distance(label, bounds, is_box)).is_some_and(|other| other < apart)
    };
    (!scene.shown().any(is_nearer)).then(|| node.called.clone())
}

/// How far a label is from its field; labels on the left count before those above.
fn distance(label: Rect<Screen>, field: Rect<Screen>, is_box: bool) -> Option<(u8, i32)> {
    let same_line = (field.y..field.bottom()).contains(&label.center().y)
        || (label.y..label.bottom()).contains(&field.center().y);
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

/// Whether a text says something rather than naming a field: a notice above a text area is not its label.
pub(super) fn is_sentence(text: &str) -> bool {
    let ends =
        text.trim_end().ends_with(['.', '!', '。', '！']) || text.contains(". ") || text.contains('。');
    ends && (text.split_whitespace().count() >= SENTENCE_WORDS_MIN || text.contains(['。', '！']))
}

/// The texts in the row of an element besides its own, in reading order; empty if it is in no row.
pub(super) fn row_texts(scene: &Scene<'_>, at: usize) -> Vec<String> {
    let Some(own) = scene.node(at) else { return Vec::new() };
    let others: Vec<usize> = match row_of(scene, at) {
        Row::Container(row) => std::iter::once(row).chain(scene.below(row).map(|(index, _)| index)).collect(),
        Row::Height(table, bounds) => {
            let in_height = |(_, node): &(usize, &Node<'_>)| {
                node.element.bounds.is_some_and(|one| (bounds.y..bounds.bottom()).contains(&one.center().y))
            };
            scene.below(table).filter(in_height).map(|(index, _)| index).collect()
        }
        Row::None => Vec::new(),
    };
    let mut texts: Vec<String> = Vec::new();
    let around: Vec<usize> = scene.ancestors(at).collect();
    for index in others {
        let Some(node) = scene.node(index) else { continue };
        let is_cell_of_own = around.contains(&index) && node.element.role == Role::TABLE_CELL;
        if (at..own.end).contains(&index) || is_cell_of_own || !node.is_shown || texts.len() >= ROW_MAX {
            continue;
        }
        let text = if node.called.is_empty() {
            node.element.text.as_deref().unwrap_or_default()
        } else {
            &node.called
        };
        if !text.trim().is_empty() && !texts.iter().any(|known| known == text) {
            texts.push(text.trim().to_owned());
        }
    }
    texts
}

enum Row {
    /// An element that is the row.
    Container(usize),
    /// Below the table, what has its centre in this height.
    Height(usize, Rect<Screen>),
    None,
}

fn row_of(scene: &Scene<'_>, at: usize) -> Row {
    let is_row = |index: &usize| {
        scene
            .node(*index)
            .is_some_and(|node| node.element.role.is_row_or_cell() && node.element.role != Role::TABLE_CELL)
    };
    if let Some(row) = scene.ancestors(at).find(is_row) {
        return Row::Container(row);
    }
    let is_table = |index: &usize| {
        scene.node(*index).is_some_and(|node| [Role::TABLE, Role::TREE_TABLE].contains(&node.element.role))
    };
    let bounds = scene.node(at).and_then(|node| node.element.bounds);
    match (table_of(scene, at, &is_table), bounds) {
        (Some(table), Some(bounds)) => Row::Height(table, bounds),
        // Rows of labels and buttons, without a table around them.
        (None, Some(bounds)) if is_repeated(scene, at) => {
            scene.container(at).map_or(Row::None, |container| Row::Height(container, bounds))
        }
        (Some(_) | None, _) => Row::None,
    }
}

fn table_of(scene: &Scene<'_>, at: usize, is_table: &dyn Fn(&usize) -> bool) -> Option<usize> {
    scene.ancestors(at).find(is_table)
}

/// Whether several elements of its container have its role and name.
fn is_repeated(scene: &Scene<'_>, at: usize) -> bool {
    let (Some(own), Some(container)) = (scene.node(at), scene.container(at)) else { return false };
    let same =
        |node: &Node<'_>| node.is_shown && node.element.role == own.element.role && node.folded == own.folded;
    !own.folded.is_empty() && scene.below(container).filter(|(_, node)| same(node)).count() > 1
}

/// Whether all these texts stand in the row of an element.
pub(super) fn is_in_row(scene: &Scene<'_>, at: usize, wanted: &[String]) -> bool {
    let texts: Vec<String> = row_texts(scene, at).iter().map(|text| fold_name(text)).collect();
    wanted.iter().all(|one| texts.contains(&fold_name(one)))
}

/// The header above an element, in its table if it is in one.
pub(super) fn column_of(scene: &Scene<'_>, at: usize) -> Option<String> {
    let own = scene.node(at)?;
    let bounds = own.element.bounds.filter(|_| !own.element.role.is_header())?;
    let is_table = |index: &usize| {
        scene.node(*index).is_some_and(|node| [Role::TABLE, Role::TREE_TABLE].contains(&node.element.role))
    };
    let inside = table_of(scene, at, &is_table).map_or(0, |table| table);
    let headers =
        scene.below(inside).filter(|(_, node)| node.element.role.is_header() && !node.called.is_empty());
    let above = headers.filter(|(_, node)| {
        node.element.bounds.is_some_and(|header| {
            header.bottom() <= bounds.center().y && (header.x..header.right()).contains(&bounds.center().x)
        })
    });
    above.last().map(|(_, node)| node.called.clone())
}

/// Whether it is a cell of a sheet, whose name is its address.
pub(super) fn is_sheet_cell(node: &Node<'_>) -> bool {
    node.element.role == Role::TABLE_CELL && node.element.name.parse::<CellRef>().is_ok()
}
