//! Rows and columns.

use super::scene::{Scene, SceneNode};
use deskhand_ui::{
    CellRef, Role, fold_name,
    geometry::{Rect, Screen},
};

/// The most texts of a row that are read.
const ROW_MAX: usize = 32;

/// The texts in the row of an element besides its own, in reading order; empty if it is in no row.
pub(super) fn row_texts(scene: &Scene<'_>, at: usize) -> Vec<String> {
    let Some(own) = scene.node(at) else { return Vec::new() };
    let others: Vec<usize> = match row_of(scene, at) {
        SceneTableRow::Container(row) => {
            std::iter::once(row).chain(scene.below(row).map(|(index, _)| index)).collect()
        }
        SceneTableRow::Height(table, bounds) => {
            let in_height = |(_, node): &(usize, &SceneNode<'_>)| {
                node.element.bounds.is_some_and(|one| (bounds.y..bounds.bottom()).contains(&one.center().y))
            };
            scene.below(table).filter(in_height).map(|(index, _)| index).collect()
        }
        SceneTableRow::None => Vec::new(),
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

enum SceneTableRow {
    /// An element that is the row.
    Container(usize),
    /// Below the table, what has its centre in this height.
    Height(usize, Rect<Screen>),
    None,
}

fn row_of(scene: &Scene<'_>, at: usize) -> SceneTableRow {
    let is_row = |index: &usize| {
        scene
            .node(*index)
            .is_some_and(|node| node.element.role.is_row_or_cell() && node.element.role != Role::TABLE_CELL)
    };
    if let Some(row) = scene.ancestors(at).find(is_row) {
        return SceneTableRow::Container(row);
    }
    let is_table = |index: &usize| {
        scene.node(*index).is_some_and(|node| [Role::TABLE, Role::TREE_TABLE].contains(&node.element.role))
    };
    let bounds = scene.node(at).and_then(|node| node.element.bounds);
    match (table_of(scene, at, &is_table), bounds) {
        (Some(table), Some(bounds)) => SceneTableRow::Height(table, bounds),
        // Rows of labels and buttons, without a table around them.
        (None, Some(bounds)) if is_repeated(scene, at) => scene
            .container(at)
            .map_or(SceneTableRow::None, |container| SceneTableRow::Height(container, bounds)),
        (Some(_) | None, _) => SceneTableRow::None,
    }
}

fn table_of(scene: &Scene<'_>, at: usize, is_table: &dyn Fn(&usize) -> bool) -> Option<usize> {
    scene.ancestors(at).find(is_table)
}

/// Returns `true` if several elements of its container have its role and name.
fn is_repeated(scene: &Scene<'_>, at: usize) -> bool {
    let (Some(own), Some(container)) = (scene.node(at), scene.container(at)) else { return false };
    let same = |node: &SceneNode<'_>| {
        node.is_shown && node.element.role == own.element.role && node.folded == own.folded
    };
    !own.folded.is_empty() && scene.below(container).filter(|(_, node)| same(node)).count() > 1
}

/// Returns `true` if all these texts stand in the row of an element.
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

/// Returns `true` if it is a cell of a sheet, whose name is its address.
pub(super) fn is_sheet_cell(node: &SceneNode<'_>) -> bool {
    node.element.role == Role::TABLE_CELL && node.element.name.parse::<CellRef>().is_ok()
}
