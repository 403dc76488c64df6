//! Which roles belong to menus.

use deskhand_core::ui::Role;

/// Whether a role belongs to a menu or to a menu entry.
pub(crate) fn is_menu(role: &Role) -> bool {
    [
        Role::MENU,
        Role::MENU_BAR,
        Role::MENU_ITEM,
        Role::CHECK_MENU_ITEM,
        Role::RADIO_MENU_ITEM,
        Role::POPUP_MENU,
    ]
    .contains(role)
}
