//! Ids, kinds, owners and applications, without an X server.

use super::*;

fn window(window: u32, pid: u32, kind: Option<WindowKind>) -> X11WindowProperties {
    X11WindowProperties {
        window,
        bounds: [0, 0, 100, 100],
        title: format!("window {window}"),
        class: ("office".to_owned(), "Office".to_owned()),
        pid: Some(pid),
        kind,
        transient_for: None,
        override_redirect: false,
        state: WindowState::Usual,
    }
}

fn owners(list: &WindowList) -> Vec<Option<u32>> {
    list.windows.iter().map(|facts| list.owner_of(facts).map(|owner| owner.window)).collect()
}

#[test]
fn an_id_is_never_reused() {
    let mut registry = WindowIdRegistry::default();
    let first = registry.id_of(0x40_0001);
    assert_eq!(registry.id_of(0x40_0001), first);
    registry.forget(0x40_0001);
    let second = registry.id_of(0x40_0001);
    assert_ne!(first, second);
    assert_eq!(registry.find_window(first), None);
    assert_eq!(registry.find_window(second), Some(0x40_0001));
    assert_eq!(registry.find_id(0x40_0001), Some(second));
}

#[test]
fn a_dialog_belongs_to_the_normal_window_at_the_end_of_the_chain() {
    let mut dialog = window(0x20_0003, 7, Some(WindowKind::Dialog));
    dialog.transient_for = Some(0x20_0001);
    let mut list_of_dialog = window(0x20_0004, 7, None);
    list_of_dialog.override_redirect = true;
    list_of_dialog.transient_for = Some(0x20_0003);
    let list = WindowList {
        windows: vec![window(0x20_0001, 7, None), window(0x20_0002, 7, None), dialog, list_of_dialog],
        active: Some(0x20_0003),
        ..WindowList::default()
    };
    assert_eq!(owners(&list), [None, None, Some(0x20_0001), Some(0x20_0001)]);
    assert_eq!(list.windows[3].window_kind(), WindowKind::Popup);
}

#[test]
fn a_tool_tip_is_no_menu() {
    let kind = |kind, override_redirect| {
        X11WindowProperties { override_redirect, ..window(0x20_0001, 7, kind) }.window_kind()
    };
    assert_eq!(kind(Some(WindowKind::Tooltip), true), WindowKind::Tooltip);
    assert_eq!(kind(Some(WindowKind::Normal), true), WindowKind::Popup);
    assert_eq!(kind(Some(WindowKind::Normal), false), WindowKind::Normal);
}

#[test]
fn a_pop_up_without_an_owner_belongs_to_the_active_window_of_its_process() {
    let mut menu = window(0x20_0009, 7, None);
    menu.override_redirect = true;
    let mut list = WindowList {
        windows: vec![
            window(0x20_0001, 7, None),
            window(0x20_0002, 7, None),
            window(0x40_0001, 8, None),
            menu,
        ],
        active: Some(0x20_0001),
        ..WindowList::default()
    };
    assert_eq!(owners(&list)[3], Some(0x20_0001));
    // Another application is active: the top-most window of the same process.
    list.active = Some(0x40_0001);
    assert_eq!(owners(&list)[3], Some(0x20_0002));
}

#[test]
fn cyclic_owners_are_followed_a_bounded_number_of_times() {
    let mut one = window(0x20_0001, 7, Some(WindowKind::Dialog));
    one.transient_for = Some(0x20_0002);
    let mut two = window(0x20_0002, 7, Some(WindowKind::Dialog));
    two.transient_for = Some(0x20_0001);
    let list = WindowList { windows: vec![one, two], ..WindowList::default() };
    assert_eq!(owners(&list), [None, None]);
}

#[test]
fn a_window_without_a_pid_gets_that_of_its_connection() {
    let mut menu = window(0x20_0009, 0, None);
    menu.pid = None;
    let mut stranger = window(0x60_0009, 0, None);
    stranger.pid = None;
    let mut windows = vec![window(0x20_0001, 7, None), menu, stranger];
    fill_missing_pids(&mut windows);
    let pids: Vec<_> = windows.iter().map(|facts| facts.pid).collect();
    assert_eq!(pids, [Some(7), Some(7), None]);
}

#[test]
fn instance_and_class_are_read() {
    assert_eq!(class_of(b"mousepad\0Mousepad\0"), ("mousepad".to_owned(), "Mousepad".to_owned()));
    assert_eq!(class_of(b""), (String::new(), String::new()));
}
