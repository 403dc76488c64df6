//! Kind and state of a window, by its own properties.

use deskhand_ui::{WindowKind, WindowState};
use x11rb::protocol::xproto::Atom;

use super::worker::Atoms;

/// The kind that a type of `_NET_WM_WINDOW_TYPE` names, if it is known.
pub(super) fn kind_of(atom: Atom, atoms: &Atoms) -> Option<WindowKind> {
    let is = |list: &[Atom]| list.contains(&atom);
    if is(&[atoms._NET_WM_WINDOW_TYPE_NORMAL]) {
        Some(WindowKind::Normal)
    } else if is(&[
        atoms._NET_WM_WINDOW_TYPE_DESKTOP,
        atoms._NET_WM_WINDOW_TYPE_DOCK,
        // It goes by itself.
        atoms._NET_WM_WINDOW_TYPE_SPLASH,
    ]) {
        Some(WindowKind::Panel)
    } else if is(&[
        atoms._NET_WM_WINDOW_TYPE_DIALOG,
        atoms._NET_WM_WINDOW_TYPE_TOOLBAR,
        atoms._NET_WM_WINDOW_TYPE_UTILITY,
    ]) {
        Some(WindowKind::Dialog)
    } else if is(&[
        atoms._NET_WM_WINDOW_TYPE_COMBO,
        atoms._NET_WM_WINDOW_TYPE_DROPDOWN_MENU,
        atoms._NET_WM_WINDOW_TYPE_MENU,
        atoms._NET_WM_WINDOW_TYPE_NOTIFICATION,
        atoms._NET_WM_WINDOW_TYPE_POPUP_MENU,
    ]) {
        Some(WindowKind::Popup)
    } else if is(&[atoms._NET_WM_WINDOW_TYPE_DND, atoms._NET_WM_WINDOW_TYPE_TOOLTIP]) {
        Some(WindowKind::Tooltip)
    } else {
        None
    }
}

/// The kind of a window whose type is `said`, by how it is used: dialogs and greetings often have the type of a normal window.
pub(super) fn kind_in_use(
    said: Option<WindowKind>,
    has_owner: bool,
    takes_input: bool,
    states: &[Atom],
    atoms: &Atoms,
) -> Option<WindowKind> {
    match said {
        // Nothing can be done in its owner until it is closed.
        Some(WindowKind::Normal) if has_owner && states.contains(&atoms._NET_WM_STATE_MODAL) => {
            Some(WindowKind::Dialog)
        }
        // Such as the greeting of a program in Java, which goes by itself.
        Some(WindowKind::Normal)
            if !has_owner && !takes_input && states.contains(&atoms._NET_WM_STATE_SKIP_TASKBAR) =>
        {
            Some(WindowKind::Panel)
        }
        Some(_) | None => said,
    }
}

/// Returns `true` if a window takes the focus, by its `WM_HINTS`: unless it says that it does not.
pub(super) fn takes_input(hints: &[u32]) -> bool {
    const SAYS: u32 = 1;
    match hints {
        [flags, input, ..] => flags & SAYS == 0 || *input != 0,
        _ => true,
    }
}

/// Returns how a window fills the screen, by the atoms of `_NET_WM_STATE`.
pub(super) fn state_of(atoms_set: &[Atom], atoms: &Atoms) -> WindowState {
    let has = |atom: Atom| atoms_set.contains(&atom);
    if has(atoms._NET_WM_STATE_FULLSCREEN) {
        WindowState::FullScreen
    } else if has(atoms._NET_WM_STATE_MAXIMIZED_VERT) && has(atoms._NET_WM_STATE_MAXIMIZED_HORZ) {
        WindowState::Maximized
    } else {
        WindowState::Usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_takes_the_focus_unless_it_says_that_it_does_not() {
        assert!(takes_input(&[]));
        assert!(takes_input(&[0, 0]));
        assert!(takes_input(&[0x43, 1, 1, 0]));
        assert!(!takes_input(&[0x41, 0, 1, 0]));
    }
}
