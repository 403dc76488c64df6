//! Elements, tables, actions and settling of real applications, each test on its own virtual desktop.
//!
//! Without the programs of a virtual desktop or the application these tests print that and pass, unless
//! `DESKHAND_ALL_TESTS` is set: then they fail.

use std::time::{Duration, Instant};

use deskhand_desktop::{
    DesktopError, ElementAction, ElementChangeKind, ElementPatterns as _, IdleReport, IdleWait,
    InputInjection, LaunchRequest, QuietLimits, TreeLimits, UiChange, UiTree, WindowManagement,
};
use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_ui::{
    CellRef, Element, ElementCapability, IncompleteTreeCause, Role, State, Tree, WindowInfo, WindowKind,
    geometry::Size,
};
use rustix::process::{Pid, Signal, kill_process};

use crate::programs::has_programs;

/// The longest wait for something that must happen.
const BOUND: Duration = Duration::from_secs(60);

/// A Writer document with one table, in the format that is a single XML file.
const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:body><office:text><text:p>Report</text:p>
<table:table table:name="Sales"><table:table-column table:number-columns-repeated="2"/>
<table:table-row><table:table-cell><text:p>Region</text:p></table:table-cell><table:table-cell><text:p>Q1</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell><text:p>North</text:p><text:p>and east</text:p></table:table-cell><table:table-cell><text:p>120</text:p></table:table-cell></table:table-row>
</table:table><text:p>End</text:p></office:text></office:body></office:document>"#;

/// A sheet with two columns and a formula.
pub(crate) const SHEET: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:body><office:spreadsheet><table:table table:name="Numbers">
<table:table-row><table:table-cell office:value-type="string"><text:p>Region</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>Q1</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell office:value-type="string"><text:p>North</text:p></table:table-cell><table:table-cell office:value-type="float" office:value="120"><text:p>120</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell/><table:table-cell table:formula="of:=[.B2]*2" office:value-type="float" office:value="240"><text:p>240</text:p></table:table-cell></table:table-row>
</table:table></office:spreadsheet></office:body></office:document>"#;

/// A desktop, if everything that a test needs is installed.
pub(crate) async fn desktop(programs: &[&str]) -> Option<LinuxDesktop> {
    if !has_programs(programs) {
        return None;
    }
    let size = Size { width: 1280, height: 900 };
    Some(LinuxDesktop::start_virtual(VirtualOptions { size, ..VirtualOptions::default() }).await.unwrap())
}

/// Starts LibreOffice with a document and returns its window once it is open.
pub(crate) async fn office(desktop: &LinuxDesktop, file: &str, content: &str) -> WindowInfo {
    let folder = desktop.private_folder().unwrap();
    let path = folder.join(file);
    std::fs::write(&path, content).unwrap();
    let profile = format!("-env:UserInstallation=file://{}/profile", folder.display());
    let arguments = [&profile, "--norestore", "--nologo", path.to_str().unwrap()];
    open(desktop, "soffice", &arguments, file).await
}

/// Starts a program and waits until its window has elements and is idle.
async fn open(desktop: &LinuxDesktop, program: &str, arguments: &[&str], title: &str) -> WindowInfo {
    let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
    desktop.launch(&LaunchRequest { program: program.to_owned(), arguments }).await.unwrap();
    let window = window_with(desktop, title).await;
    let deadline = Instant::now() + BOUND;
    loop {
        let watch = desktop.watch(Some(window.id)).await.unwrap();
        let settled = desktop.settle(watch, QuietLimits::default()).await.unwrap();
        let tree = tree(desktop, &window).await;
        if !settled.timed_out && tree.elements.len() > 5 {
            return window;
        }
        assert!(Instant::now() < deadline, "{title}: {settled:?} {}", tree.elements.len());
    }
}

/// Waits for a window whose title contains `title`.
async fn window_with(desktop: &LinuxDesktop, title: &str) -> WindowInfo {
    let deadline = Instant::now() + BOUND;
    let mut windows = desktop.windows().await.unwrap();
    loop {
        if let Some(window) = windows.iter().find(|window| window.title.contains(title)) {
            return window.clone();
        }
        assert!(Instant::now() < deadline, "no window {title}: {windows:#?}");
        windows = desktop.windows_changed(&windows, Duration::from_secs(1)).await.unwrap();
    }
}

pub(crate) async fn tree(desktop: &LinuxDesktop, window: &WindowInfo) -> Tree {
    desktop.tree(window.id, TreeLimits::default()).await.unwrap()
}

fn find<'t>(tree: &'t Tree, role: &Role, name: &str) -> &'t Element {
    let fits = |element: &&Element| element.role == *role && element.name == name;
    tree.elements.iter().find(fits).unwrap_or_else(|| panic!("no {role} {name:?} in\n{}", outline(tree)))
}

fn outline(tree: &Tree) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for element in &tree.elements {
        let indent = usize::from(element.depth);
        let (label, bounds) = (element.label(), element.bounds.map(<[i32; 4]>::from));
        writeln!(text, "{:indent$}{} {label} {:?} {bounds:?}", "", element.id, element.text).unwrap();
    }
    text
}

/// Acts on an element and returns what was observed.
async fn act(
    desktop: &LinuxDesktop,
    window: &WindowInfo,
    element: &Element,
    action: ElementAction,
) -> IdleReport {
    let watch = desktop.watch(Some(window.id)).await.unwrap();
    desktop.perform(element.id, &action).await.unwrap();
    desktop.settle(watch, QuietLimits::default()).await.unwrap()
}

fn at(cell: &str) -> CellRef {
    cell.parse().unwrap()
}

#[tokio::test]
async fn a_writer_document_is_read_and_its_controls_are_where_they_show() {
    let Some(desktop) = desktop(&["soffice"]).await else { return };
    let window = office(&desktop, "report.fodt", REPORT).await;
    let seen = tree(&desktop, &window).await;
    assert_eq!(seen.partial, None);
    let ids: std::collections::HashSet<_> = seen.elements.iter().map(|element| element.id).collect();
    assert_eq!(ids.len(), seen.elements.len(), "each element once");
    let menu_bars = seen.elements.iter().filter(|element| element.role == Role::MENU_BAR).count();
    assert_eq!(menu_bars, 1, "the one that is drawn\n{}", outline(&seen));
    let document = seen.elements.iter().find(|element| element.role == Role::DOCUMENT_TEXT).unwrap();
    let paragraphs: Vec<&str> = seen
        .descendants(document.id)
        .filter(|element| element.role == Role::PARAGRAPH)
        .filter_map(|element| element.text.as_deref())
        .collect();
    assert_eq!(paragraphs, ["Report", "Region", "Q1", "North", "and east", "120", "End"]);

    let table = find(&seen, &Role::TABLE, "Sales-1");
    let content = desktop.cells(table.id, "A1:B2".parse().unwrap()).await.unwrap();
    assert_eq!(content.rows, [["Region", "Q1"], ["North\nand east", "120"]]);
    assert!(matches!(
        desktop.cells(table.id, "A1:C9".parse().unwrap()).await,
        Err(DesktopError::Failed { .. })
    ));
    let cell = desktop.cell(table.id, at("B2")).await.unwrap();
    assert_eq!((cell.name.as_str(), cell.text.as_deref()), ("B2", Some("120")));
    assert!(desktop.is_within(cell.id, document.id).await.unwrap());
    assert!(!desktop.is_within(document.id, cell.id).await.unwrap());

    // A click in the middle of the reported bounds hits the control.
    let bold = find(&seen, &Role::TOGGLE_BUTTON, "Bold");
    let middle = bold.bounds.unwrap().center();
    let there = desktop.element_at(window.id, middle).await.unwrap().unwrap();
    assert_eq!(there.id, bold.id, "{}", there.label());
    let watch = desktop.watch(Some(window.id)).await.unwrap();
    desktop.click(middle, deskhand_desktop::Button::Left, 1).await.unwrap();
    let settled = desktop.settle(watch, QuietLimits::default()).await.unwrap();
    let after = desktop.element(bold.id).await.unwrap();
    assert!(after.states.has(State::Checked), "{} {settled:?}", after.states);
    assert!(settled.changes.iter().any(|change| matches!(change,
        UiChange::Element { aspect, element } if *aspect == ElementChangeKind::State(State::Checked) && *element == Some(bold.id))));

    // Ids are stable.
    let again = tree(&desktop, &window).await;
    assert_eq!(find(&again, &Role::TOGGLE_BUTTON, "Bold").id, bold.id);
    let cut = desktop.tree(window.id, TreeLimits { nodes_max: 20, ..TreeLimits::default() }).await.unwrap();
    assert_eq!((cut.elements.len(), cut.partial), (20, Some(IncompleteTreeCause::NodeLimit)));
    desktop.shut_down().await;
}

#[tokio::test]
async fn only_the_visible_cells_of_a_huge_spreadsheet_are_read() {
    let Some(desktop) = desktop(&["soffice"]).await else { return };
    let window = office(&desktop, "numbers.fods", SHEET).await;
    let seen = tree(&desktop, &window).await;
    assert_eq!(seen.partial, None);
    assert!(seen.elements.len() < 600, "{}", seen.elements.len());
    let sheet = find(&seen, &Role::TABLE, "Sheet Numbers");
    assert!(sheet.child_count > 1_000_000);
    let shown: Vec<(&str, &str)> = seen
        .descendants(sheet.id)
        .map(|cell| (cell.name.as_str(), cell.text.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(shown, [("A1", "Region"), ("B1", "Q1"), ("A2", "North"), ("B2", "120"), ("B3", "240")]);
    assert!(matches!(desktop.children(sheet.id, 10).await, Err(DesktopError::Failed { .. })));

    // A number is set by its value, and the formula follows.
    let b2 = desktop.cell(sheet.id, at("B2")).await.unwrap();
    act(&desktop, &window, &b2, ElementAction::SetValue(200.5)).await;
    let content = desktop.cells(sheet.id, "A1:B3".parse().unwrap()).await.unwrap();
    assert_eq!(content.rows, [["Region", "Q1"], ["North", "200.5"], ["", "401"]]);
    let refused = desktop.perform(b2.id, &ElementAction::SetText("x".to_owned())).await;
    assert!(matches!(refused, Err(DesktopError::NotOffered { .. })), "{refused:?}");

    // The focus moves the cell cursor: the name box shows it.
    let d9 = desktop.cell(sheet.id, at("D9")).await.unwrap();
    act(&desktop, &window, &d9, ElementAction::Focus).await;
    let after = tree(&desktop, &window).await;
    assert!(
        after.elements.iter().any(|element| element.text.as_deref() == Some("D9")),
        "{}",
        outline(&after)
    );

    // Text goes in through the formula bar.
    let line = after
        .elements
        .iter()
        .find(|element| element.role == Role::PARAGRAPH && element.offers(ElementCapability::EditableText))
        .unwrap_or_else(|| panic!("no formula bar in\n{}", outline(&after)));
    act(&desktop, &window, line, ElementAction::SetText("Größe".to_owned())).await;
    let editing = tree(&desktop, &window).await;
    act(&desktop, &window, find(&editing, &Role::PUSH_BUTTON, "Accept"), ElementAction::Default).await;
    assert_eq!(desktop.cell(sheet.id, at("D9")).await.unwrap().text.as_deref(), Some("Größe"));
    desktop.shut_down().await;
}

#[tokio::test]
async fn an_open_menu_shows_in_the_tree_of_its_window() {
    let Some(desktop) = desktop(&["mousepad"]).await else { return };
    let window = editor(&desktop, "note.txt").await;
    let seen = tree(&desktop, &window).await;
    assert!(seen.elements.iter().all(|element| element.role != Role::MENU_ITEM), "{}", outline(&seen));
    let menu = find(&seen, &Role::MENU, "File");
    let watch = desktop.watch(Some(window.id)).await.unwrap();
    desktop.click(menu.bounds.unwrap().center(), deskhand_desktop::Button::Left, 1).await.unwrap();
    let settled = desktop.settle(watch, QuietLimits::default()).await.unwrap();
    let opened = settled.changes.iter().any(|change| matches!(change, UiChange::WindowOpened { .. }));
    assert!(opened, "{settled:?}");
    let seen = tree(&desktop, &window).await;
    let inside: Vec<&str> = seen.descendants(menu.id).map(|element| element.name.as_str()).collect();
    assert!(inside.contains(&"New") && inside.contains(&"Save"), "{}", outline(&seen));
    desktop.shut_down().await;
}

#[tokio::test]
async fn a_closed_menu_opens_a_dialog_whose_controls_work() {
    let Some(desktop) = desktop(&["soffice"]).await else { return };
    let window = office(&desktop, "numbers.fods", SHEET).await;
    let seen = tree(&desktop, &window).await;
    let items = desktop.children(find(&seen, &Role::MENU, "Insert").id, 100).await.unwrap();
    let item = items.iter().find(|item| item.name.starts_with("Chart")).unwrap();
    assert!(item.offers(ElementCapability::Action) && item.bounds.is_none());
    assert_eq!(desktop.action_names(item.id).await.unwrap(), ["click"]);
    let settled = act(&desktop, &window, item, ElementAction::Default).await;
    assert!(!settled.timed_out, "{settled:?}");
    let dialog = window_with(&desktop, "Chart Type").await;
    let opened = tree(&desktop, &dialog).await;
    find(&opened, &Role::PUSH_BUTTON, "Finish");
    let bar = find(&opened, &Role::TABLE_CELL, "Bar");
    act(&desktop, &dialog, bar, ElementAction::Select).await;
    let bar = desktop.element(bar.id).await.unwrap();
    assert!(bar.states.has(State::Selected), "{} {}", bar.label(), bar.states);
    let settled =
        act(&desktop, &dialog, find(&opened, &Role::PUSH_BUTTON, "Cancel"), ElementAction::Default).await;
    let closed = UiChange::WindowClosed { title: "Chart Type".to_owned() };
    assert!(settled.changes.contains(&closed), "{settled:?}");
    let gone = desktop.tree(dialog.id, TreeLimits::default()).await;
    assert!(matches!(gone, Err(DesktopError::NoWindow(_))), "{gone:?}");
    // LibreOffice is still running, and its tree is complete.
    let after = tree(&desktop, &window).await;
    assert_eq!(after.partial, None);
    find(&after, &Role::TABLE, "Sheet Numbers");
    desktop.shut_down().await;
}

#[tokio::test]
async fn the_tree_can_be_read_after_a_chart_is_inserted() {
    let Some(desktop) = desktop(&["soffice"]).await else { return };
    let window = office(&desktop, "numbers.fods", SHEET).await;
    let seen = tree(&desktop, &window).await;
    // A range in the name box selects it.
    let name_box = seen.elements.iter().find(|element| element.text.as_deref() == Some("A1")).unwrap();
    act(&desktop, &window, name_box, ElementAction::SetText("A1:B3".to_owned())).await;
    act(&desktop, &window, name_box, ElementAction::Default).await;
    let cell = find(&seen, &Role::TABLE_CELL, "B3");
    let cell = desktop.element(cell.id).await.unwrap();
    assert!(cell.states.has(State::Selected), "{}", cell.states);

    let items = desktop.children(find(&seen, &Role::MENU, "Insert").id, 100).await.unwrap();
    let item = items.iter().find(|item| item.name.starts_with("Chart")).unwrap();
    act(&desktop, &window, item, ElementAction::Default).await;
    let dialog = window_with(&desktop, "Chart Type").await;
    let opened = tree(&desktop, &dialog).await;
    act(&desktop, &dialog, find(&opened, &Role::PUSH_BUTTON, "Finish"), ElementAction::Default).await;
    desktop.activate(window.id).await.unwrap();
    for key in ["Escape", "ctrl+Home"] {
        let watch = desktop.watch(Some(window.id)).await.unwrap();
        desktop.press(&key.parse().unwrap()).await.unwrap();
        desktop.settle(watch, QuietLimits::default()).await.unwrap();
        assert_eq!(tree(&desktop, &window).await.partial, None);
    }
    let after = tree(&desktop, &window).await;
    let sheet = find(&after, &Role::TABLE, "Sheet Numbers");
    let content = desktop.cells(sheet.id, "A2:B2".parse().unwrap()).await.unwrap();
    assert_eq!(content.rows, [["North", "120"]]);
    desktop.shut_down().await;
}

pub(crate) async fn editor(desktop: &LinuxDesktop, name: &str) -> WindowInfo {
    let path = desktop.private_folder().unwrap().join(name);
    std::fs::write(&path, "first").unwrap();
    open(desktop, "mousepad", &["--disable-server", path.to_str().unwrap()], name).await
}

#[tokio::test]
async fn text_is_set_and_an_action_without_effect_changes_nothing() {
    let Some(desktop) = desktop(&["mousepad"]).await else { return };
    let window = editor(&desktop, "note.txt").await;
    let seen = tree(&desktop, &window).await;
    let text = seen.elements.iter().find(|element| element.text.as_deref() == Some("first")).unwrap();
    let settled = act(&desktop, &window, text, ElementAction::SetText("grüße\n東京".to_owned())).await;
    assert!(!settled.changes.is_empty() && !settled.timed_out, "{settled:?}");
    assert_eq!(desktop.text(text.id, 100).await.unwrap(), "grüße\n東京");
    assert_eq!(desktop.text(text.id, 3).await.unwrap(), "grü");

    let watch = desktop.watch(Some(window.id)).await.unwrap();
    let settled = desktop.settle(watch, QuietLimits::default()).await.unwrap();
    assert_eq!((settled.changes.as_slice(), settled.timed_out), (&[][..], false), "{settled:?}");

    // The file dialog has its own tree, and its entry accepts a name.
    let watch = desktop.watch(Some(window.id)).await.unwrap();
    desktop.press(&"ctrl+shift+s".parse().unwrap()).await.unwrap();
    desktop.settle(watch, QuietLimits::default()).await.unwrap();
    let dialog = window_with(&desktop, "Save As").await;
    assert_eq!(dialog.kind, WindowKind::Dialog);
    let chooser = tree(&desktop, &dialog).await;
    find(&chooser, &Role::PUSH_BUTTON, "Cancel");
    let name = chooser
        .elements
        .iter()
        .find(|element| {
            element.text.as_deref() == Some("note.txt") && element.offers(ElementCapability::EditableText)
        })
        .unwrap_or_else(|| panic!("no entry in\n{}", outline(&chooser)));
    act(&desktop, &dialog, name, ElementAction::SetText("other.txt".to_owned())).await;
    assert_eq!(desktop.text(name.id, 100).await.unwrap(), "other.txt");
    act(&desktop, &dialog, find(&chooser, &Role::PUSH_BUTTON, "Save"), ElementAction::Default).await;
    window_with(&desktop, "other.txt").await;
    assert!(desktop.private_folder().unwrap().join("other.txt").exists());
    desktop.shut_down().await;
}

#[tokio::test]
async fn an_application_that_hangs_blocks_no_other() {
    let Some(desktop) = desktop(&["mousepad"]).await else { return };
    let (hung, other) = (editor(&desktop, "hung.txt").await, editor(&desktop, "other.txt").await);
    let pid = Pid::from_raw(i32::try_from(hung.app.pid.unwrap()).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    let deadline = Duration::from_millis(700);
    let begun = Instant::now();
    let limits = TreeLimits { deadline, ..TreeLimits::default() };
    let (of_hung, of_other) = tokio::join!(desktop.tree(hung.id, limits), tree(&desktop, &other));
    assert!(of_hung.as_ref().unwrap().partial.is_some(), "{of_hung:?}");
    assert_eq!(of_other.partial, None);
    assert!(of_other.elements.len() > 5);
    assert!(begun.elapsed() < BOUND / 2);
    let watch = desktop.watch(Some(hung.id)).await.unwrap();
    let limits = QuietLimits { bound: Duration::from_millis(600), ..QuietLimits::default() };
    let settled = desktop.settle(watch, limits).await.unwrap();
    assert!(settled.timed_out, "an application that does not answer is not idle: {settled:?}");
    kill_process(pid, Signal::CONT).unwrap();
    let again = tree(&desktop, &hung).await;
    assert_eq!(again.partial, None);
    kill_process(pid, Signal::KILL).unwrap();
    let known = again.elements.first().unwrap().id;
    let deadline = Instant::now() + BOUND;
    while !matches!(desktop.element(known).await, Err(DesktopError::NoElement(_))) {
        assert!(Instant::now() < deadline, "elements of a dead application");
    }
    assert_eq!(tree(&desktop, &other).await.partial, None);
    desktop.shut_down().await;
}

/// The accessibility bus of a desktop.
fn accessibility_bus(desktop: &LinuxDesktop) -> Pid {
    let folder = desktop.private_folder().unwrap().to_str().unwrap().to_owned();
    let read = |process: &std::path::Path, file: &str| {
        String::from_utf8_lossy(&std::fs::read(process.join(file)).unwrap_or_default()).into_owned()
    };
    let found = std::fs::read_dir("/proc").unwrap().flatten().find(|process| {
        let path = process.path();
        read(&path, "cmdline").contains("accessibility.conf") && read(&path, "environ").contains(&folder)
    });
    let name = found.expect("an accessibility bus").file_name();
    Pid::from_raw(name.to_str().unwrap().parse().unwrap()).unwrap()
}

#[tokio::test]
async fn the_end_of_the_bus_is_reported_at_once() {
    let Some(desktop) = desktop(&["mousepad"]).await else { return };
    let window = editor(&desktop, "note.txt").await;
    let element = tree(&desktop, &window).await.elements.first().unwrap().id;
    let watch = desktop.watch(Some(window.id)).await.unwrap();
    let bus = accessibility_bus(&desktop);
    kill_process(bus, Signal::KILL).unwrap();
    let limits = QuietLimits { first_change: BOUND, bound: BOUND, ..QuietLimits::default() };
    let settled = desktop.settle(watch, limits).await;
    assert!(matches!(settled, Err(DesktopError::Gone { .. })), "{settled:?}");
    let begun = Instant::now();
    let read = desktop.tree(window.id, TreeLimits::default()).await;
    assert!(matches!(read, Err(DesktopError::Gone { .. })), "{read:?}");
    let read = desktop.element(element).await;
    assert!(matches!(read, Err(DesktopError::Gone { .. })), "{read:?}");
    assert!(begun.elapsed() < TreeLimits::default().deadline);
    desktop.shut_down().await;
}
