//! Which roles belong to menus, and which menus of a window are open.

use deskhand_ui::{Element, Role, State, Tree};

/// Returns `true` if a role belongs to a menu or to a menu entry.
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

/// Returns `true` if a role is that of an entry of a menu.
pub(crate) fn is_menu_item(role: &Role) -> bool {
    [Role::MENU_ITEM, Role::CHECK_MENU_ITEM, Role::RADIO_MENU_ITEM].contains(role)
}

/// The items of the menus that are open in a window itself, as in a page: they lie on top of everything else there.
pub(crate) fn open_items(tree: &Tree) -> impl Iterator<Item = &Element> {
    tree.elements.iter().filter(|one| {
        let is_shown = is_menu_item(&one.role) && one.bounds.is_some() && one.states.has(State::Showing);
        is_shown && tree.ancestors(one.id).next().is_some_and(|above| above.role != Role::MENU_BAR)
    })
}
