//! Rows with parts: list items, tree items and table rows.

use deskhand_ui::Role;

/// Maximum number of levels from a target up to the row that it is a part of: its label, in a cell, in a row.
pub(crate) const ROW_ABOVE_MAX: usize = 3;

/// Returns `true` if a role is that of a row with parts.
pub(crate) fn is_row(role: &Role) -> bool {
    [Role::LIST_ITEM, Role::TREE_ITEM].contains(role) || role.name() == "table row"
}
