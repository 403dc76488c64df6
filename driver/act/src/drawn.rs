//! Check that a row of a table is drawn where the application reports it: after sorting, some report the
//! previous names.

use deskhand_desktop::{
    Desktop,
    alike::{alike, reads_otherwise},
};
use deskhand_ui::{CellRef, Element, ElementSource, Role, Tree, WindowInfo, action::ActionRefusal};

use crate::{before::look, report::Halt};

/// Maximum number of levels from a part of a row up to its table.
const TABLE_ABOVE_MAX: usize = 6;

/// Checks the picture of a row of a table, which may have been sorted. It is refused only if the picture certainly shows the name of
/// another row there: what is cut off or misread does not count.
pub(crate) async fn check_drawn<D: Desktop>(
    desktop: &D,
    surface: &WindowInfo,
    element: &Element,
) -> Result<(), Halt> {
    let Some(bounds) = element.bounds.filter(|_| is_part_of_row(element)) else { return Ok(()) };
    let tree = look(desktop, surface.id).await?;
    let others = names_of_other_rows(&tree, element);
    if others.is_empty() {
        return Ok(());
    }
    let Some(shows) = desktop.drawn_text(bounds).await? else { return Ok(()) };
    if reads_otherwise(&element.name, &shows) && others.iter().any(|other| alike(other, &shows)) {
        return Err(ActionRefusal::DrawnOtherwise { element: element.into(), shows }.into());
    }
    Ok(())
}

/// The names that other elements like this one have in its table; empty if it is in no table.
fn names_of_other_rows<'t>(tree: &'t Tree, element: &Element) -> Vec<&'t str> {
    let is_table = |one: &&Element| {
        let has_header = |inner: &Element| inner.role.name().ends_with("column header");
        [Role::TABLE, Role::TREE_TABLE].contains(&one.role) || tree.descendants(one.id).any(has_header)
    };
    let Some(table) = tree.ancestors(element.id).take(TABLE_ABOVE_MAX).find(is_table) else {
        return Vec::new();
    };
    let is_other =
        |one: &&Element| one.role == element.role && !one.name.is_empty() && one.name != element.name;
    tree.descendants(table.id).filter(is_other).map(|one| one.name.as_str()).collect()
}

fn is_part_of_row(element: &Element) -> bool {
    let is_part = element.role == Role::LABEL || element.role.is_row_or_cell();
    // Cells of a spreadsheet are called by their place.
    let has_words = !element.name.is_empty() && element.name.parse::<CellRef>().is_err();
    is_part && element.source == ElementSource::AtSpi && has_words
}
