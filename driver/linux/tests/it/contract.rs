//! One contract for every desktop: the same steps on the desktop in memory and on the real ones, with a small
//! text editor.

use std::{collections::HashSet, time::Duration};

use deskhand_desktop::{Desktop, DesktopError, ElementAction, LaunchRequest, QuietLimits, TreeLimits};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionReport, ActionTarget, Click, TypeTextOptions};
use deskhand_desktop_fake::{Behaviour, FakeApp, FakeDesktop, FakeElement, FakeWindow};
use deskhand_ui::{
    CellRange, Element, ElementQuery, Role, State, Tree, WindowKind,
    action::Verdict,
    ids::{ElementId, WindowId},
};

/// A text editor, and what is called how in it.
pub(crate) struct Editor {
    /// The program.
    program: &'static str,
    /// What its title contains.
    title: &'static str,
    /// A menu that opens when it is clicked.
    menu: &'static str,
    /// An item of that menu.
    item: &'static str,
    /// What answers the question about unsaved changes.
    discard: &'static str,
    /// What is typed into it.
    text: &'static str,
}

pub(crate) const MOUSEPAD: Editor = Editor {
    program: "mousepad",
    title: "Mousepad",
    menu: "Edit",
    item: "Select All",
    discard: "Don't Save",
    text: "Grüße, 東京 & Αθήνα: {x} ~ 'q' \"€\"",
};

/// The same, where input goes by a portal: that presses only keys that every keyboard has.
pub(crate) const PLAIN_MOUSEPAD: Editor = Editor { text: "Plain & short: {x} ~ 'q' \"$\"", ..MOUSEPAD };

fn seen(report: ActionReport) -> ActionReport {
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    report
}

pub(crate) async fn contract<D: Desktop>(desktop: &D, editor: &Editor) {
    let capabilities = desktop.capabilities();
    assert!(capabilities.windowing && capabilities.ui_tree && capabilities.input && capabilities.capture);
    what_is_missing_is_an_error(desktop).await;
    quiet_is_quiet(desktop).await;
    let launched = launch(desktop, editor).await;
    let tree = trees_are_ordered_and_ids_stable(desktop, launched).await;
    elements_are_read_one_by_one(desktop, launched, &tree).await;
    menus_open_and_close(desktop, launched, editor).await;
    text_is_typed_and_read(desktop, launched, editor.text).await;
    what_is_not_offered_is_said(desktop, launched).await;
    closing_asks_and_ends(desktop, launched, editor).await;
}

async fn what_is_missing_is_an_error<D: Desktop>(desktop: &D) {
    let request = LaunchRequest { program: "no-such-program-here".into(), arguments: Vec::new() };
    let error = desktop.launch(&request).await.unwrap_err();
    assert!(matches!(error, DesktopError::Launch { .. }), "{error}");
    let (window, element) = (WindowId(9_999), ElementId(9_999_999));
    let error = desktop.activate(window).await.unwrap_err();
    assert!(matches!(error, DesktopError::NoWindow(_)), "{error}");
    let error = desktop.tree(window, TreeLimits::default()).await.unwrap_err();
    assert!(matches!(error, DesktopError::NoWindow(_)), "{error}");
    let error = desktop.element(element).await.unwrap_err();
    assert!(matches!(error, DesktopError::NoElement(_)), "{error}");
}

async fn quiet_is_quiet<D: Desktop>(desktop: &D) {
    let watch = desktop.watch(None).await.unwrap();
    let limits = QuietLimits { first_change: Duration::from_millis(120), ..QuietLimits::default() };
    let settled = desktop.settle(watch, limits).await.unwrap();
    assert!(settled.changes.is_empty() && !settled.timed_out, "{settled:?}");
    let known = desktop.windows().await.unwrap();
    let after = desktop.windows_changed(&known, Duration::from_millis(50)).await.unwrap();
    assert_eq!(known, after);
}

async fn launch<D: Desktop>(desktop: &D, editor: &Editor) -> WindowId {
    let request = LaunchRequest { program: editor.program.into(), arguments: Vec::new() };
    let report = seen(act::launch(desktop, &request, &ActLimits::default()).await.unwrap());
    let window = report.window.unwrap();
    assert!(window.title.contains(editor.title), "{window:?}");
    assert_eq!((window.kind, window.owner), (WindowKind::Normal, None));
    assert!(window.accessible && !window.bounds.is_empty(), "{window:?}");
    seen(act::activate(desktop, window.id).await.unwrap());
    let windows = desktop.windows().await.unwrap();
    let listed = windows.iter().find(|info| info.id == window.id).unwrap();
    assert!(listed.active, "{windows:?}");
    assert_eq!(desktop.process_ended(listed.app.pid.unwrap()), None);
    window.id
}

async fn trees_are_ordered_and_ids_stable<D: Desktop>(desktop: &D, window: WindowId) -> Tree {
    let tree = desktop.tree(window, TreeLimits::default()).await.unwrap();
    assert_eq!(tree.partial, None);
    assert_eq!(tree.elements[0].depth, 0);
    for pair in tree.elements.windows(2) {
        assert!(pair[1].depth >= 1 && pair[1].depth <= pair[0].depth + 1, "{pair:?}");
    }
    let ids: HashSet<ElementId> = tree.elements.iter().map(|element| element.id).collect();
    assert_eq!(ids.len(), tree.elements.len());
    assert!(tree.elements.iter().any(|element| element.role == Role::MENU_BAR));
    let named = |tree: &Tree| -> Vec<(ElementId, Role, String)> {
        let key = |element: &Element| (element.id, element.role.clone(), element.name.clone());
        tree.elements.iter().filter(|element| !element.name.is_empty()).map(key).collect()
    };
    let again = desktop.tree(window, TreeLimits::default()).await.unwrap();
    assert_eq!(named(&tree), named(&again));
    let few = desktop.tree(window, TreeLimits { nodes_max: 2, ..TreeLimits::default() }).await.unwrap();
    assert_eq!(few.elements.len(), 2);
    assert!(few.partial.is_some());
    tree
}

async fn elements_are_read_one_by_one<D: Desktop>(desktop: &D, window: WindowId, tree: &Tree) {
    let root = &tree.elements[0];
    let menu = tree.elements.iter().find(|element| element.role == Role::MENU).unwrap();
    let alone = desktop.element(menu.id).await.unwrap();
    assert_eq!((alone.id, &alone.role, &alone.name, alone.depth), (menu.id, &menu.role, &menu.name, 0));
    assert!(alone.states.has(State::Showing) && alone.states.takes_input(), "{alone:?}");
    assert!(desktop.is_within(menu.id, root.id).await.unwrap());
    assert!(desktop.is_within(root.id, root.id).await.unwrap());
    assert!(!desktop.is_within(root.id, menu.id).await.unwrap());
    let children = desktop.children(menu.id, 100).await.unwrap();
    assert!(
        children.len() > 1 && children.iter().all(|item| !item.states.has(State::Showing)),
        "{children:?}"
    );
    let at = desktop.element_at(window, menu.bounds.unwrap().center()).await.unwrap();
    if let Some(at) = at {
        assert!(desktop.is_within(at.id, root.id).await.unwrap(), "{at:?}");
    }
}

async fn menus_open_and_close<D: Desktop>(desktop: &D, window: WindowId, editor: &Editor) {
    let limits = ActLimits::default();
    let (_, menu) = act::find_element(desktop, window, &ElementQuery::new(Role::MENU, editor.menu))
        .await
        .unwrap()
        .unwrap();
    let target = ActionTarget::Element { id: menu.id, name: Some(editor.menu.to_owned()) };
    seen(act::click(desktop, window, &Click::once(target), &limits).await.unwrap());
    let item = act::find_element(desktop, window, &ElementQuery::named(editor.item)).await.unwrap();
    assert!(item.is_some_and(|(_, item)| item.states.has(State::Showing)));
    let popups = desktop.windows().await.unwrap();
    assert!(
        popups.iter().any(|info| info.kind == WindowKind::Popup && info.owner == Some(window)),
        "{popups:?}"
    );
    act::press_keys(desktop, window, &["Escape".parse().unwrap()], &limits).await.unwrap();
    let item = act::find_element(desktop, window, &ElementQuery::named(editor.item)).await.unwrap();
    assert!(item.is_none(), "{item:?}");
    let request = Click::once(ActionTarget::Element { id: menu.id, name: Some("Something Else".into()) });
    let report = act::click(desktop, window, &request, &limits).await.unwrap();
    assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
}

async fn text_is_typed_and_read<D: Desktop>(desktop: &D, window: WindowId, typed: &str) {
    let limits = ActLimits::default();
    let (_, text) = act::find_element(desktop, window, &ElementQuery { role: Some(Role::TEXT), name: None })
        .await
        .unwrap()
        .unwrap();
    let bounds = text.bounds.unwrap();
    let before = desktop.region(bounds).await.unwrap();
    let request = TypeTextOptions { element: Some(text.id), name: None, text: typed.to_owned(), clear: true };
    let report = seen(act::type_text(desktop, window, &request, &limits).await.unwrap());
    assert!(report.changes().next().is_some(), "{report:?}");
    assert_eq!(desktop.text(text.id, 1_000).await.unwrap().trim_end(), typed);
    let after = desktop.region(bounds).await.unwrap();
    assert_eq!((before.region, before.rgb.len()), (after.region, after.rgb.len()));
    assert_ne!(before.rgb, after.rgb);
    assert!(after.to_png().unwrap().starts_with(b"\x89PNG"));
    let more = TypeTextOptions { element: None, name: None, text: " and more".to_owned(), clear: false };
    seen(act::type_text(desktop, window, &more, &limits).await.unwrap());
    assert_eq!(desktop.text(text.id, 1_000).await.unwrap().trim_end(), format!("{typed} and more"));
}

async fn what_is_not_offered_is_said<D: Desktop>(desktop: &D, window: WindowId) {
    let (_, text) = act::find_element(desktop, window, &ElementQuery { role: Some(Role::TEXT), name: None })
        .await
        .unwrap()
        .unwrap();
    let error = desktop.perform(text.id, &ElementAction::SetValue(1.0)).await.unwrap_err();
    assert!(matches!(error, DesktopError::NotOffered { .. }), "{}", error.chain());
    let range: CellRange = "A1:B2".parse().unwrap();
    let error = desktop.cells(text.id, range).await.unwrap_err();
    assert!(matches!(error, DesktopError::NotOffered { .. }), "{}", error.chain());
}

async fn closing_asks_and_ends<D: Desktop>(desktop: &D, window: WindowId, editor: &Editor) {
    let limits = ActLimits::default();
    let tree = desktop.tree(window, TreeLimits::default()).await.unwrap();
    let report = act::close(desktop, window, &limits).await.unwrap();
    assert_eq!(report.effect(), Verdict::NotSeen, "{}", report.summary());
    let question = report.window.unwrap();
    assert_eq!(question.kind, WindowKind::Dialog, "{question:?}");
    let menu = tree.elements.iter().find(|element| element.role == Role::MENU).unwrap();
    let blocked =
        act::click(desktop, window, &Click::once(ActionTarget::element(menu.id)), &limits).await.unwrap();
    assert_eq!(blocked.effect(), Verdict::Refused, "{}", blocked.summary());
    seen(act::visit(desktop, window, &[editor.discard.to_owned()], &limits).await.unwrap());
    let known = desktop.windows().await.unwrap();
    if known.iter().any(|info| info.id == window) {
        desktop.windows_changed(&known, Duration::from_secs(5)).await.unwrap();
    }
    assert!(desktop.windows().await.unwrap().iter().all(|info| info.id != window));
    let error = desktop.element(menu.id).await.unwrap_err();
    assert!(matches!(error, DesktopError::NoElement(_)), "{error}");
    let error = desktop.tree(window, TreeLimits::default()).await.unwrap_err();
    assert!(matches!(error, DesktopError::NoWindow(_)), "{error}");
}

/// An editor in memory that looks like the real one.
fn editor_in_memory() -> FakeApp {
    let item = |name: &str| FakeElement::new(Role::MENU_ITEM, name);
    let menu = |name: &str, items: Vec<FakeElement>| FakeElement::new(Role::MENU, name).children(items);
    let discard = FakeElement::new(Role::PUSH_BUTTON, "_Don't Save").on_click(Behaviour::CloseOwner);
    let question = FakeWindow::dialog("Save Changes").elements([
        FakeElement::new(Role::LABEL, "Do you want to save the changes before closing?"),
        FakeElement::new(Role::PUSH_BUTTON, "_Cancel").on_click(Behaviour::CloseWindow),
        discard,
    ]);
    let mut window = FakeWindow::normal("Untitled 1 - Mousepad")
        .elements([
            FakeElement::new(Role::MENU_BAR, "").children([
                menu("File", vec![item("New"), item("Open...")]),
                menu("Edit", vec![item("Cut"), item("Select All")]),
            ]),
            FakeElement::new(Role::TEXT, "").key("text").at(0, 300, 800, 500),
        ])
        .focus("text");
    window.on_close = Some(Behaviour::Open(Box::new(question)));
    let mut app = FakeApp::new("Mousepad", "mousepad", [window]);
    app.launch_ms = 250;
    app
}

#[tokio::test]
async fn the_desktop_in_memory_keeps_the_contract() {
    let desktop = FakeDesktop::new([], [editor_in_memory()]);
    contract(&desktop, &MOUSEPAD).await;
}
