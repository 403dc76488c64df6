//! Compares the mirror of an application with the application itself, after all kinds of edits.

use std::time::Duration;

use deskhand_desktop::{
    Button, ElementAction, ElementPatterns as _, IdleWait, InputInjection, QuietLimits, TreeLimits, UiTree,
    WindowManagement,
};
use deskhand_desktop_linux::{LinuxDesktop, MirrorDiff};
use deskhand_ui::{Element, Role, Tree, WindowInfo, WindowKind, geometry::Point};

use deskhand_testkit::fixture::{Screen, Toolkit};

use crate::{
    fixtures::{Stage, outline},
    linux_atspi::{SHEET, desktop, editor, office, tree},
};

/// A document of two paragraphs.
const TEXT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:body><office:text><text:p>Summary</text:p><text:p>All is well.</text:p></office:text></office:body>
</office:document>"#;

/// Pseudo-random numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides.max(1)).unwrap()).unwrap()
    }
}

/// The differences of the mirror. An application that was busy during the comparison gets a second look.
async fn differences(desktop: &LinuxDesktop, window: &WindowInfo) -> Vec<MirrorDiff> {
    let mut found = Vec::new();
    for _ in 0..3 {
        found = desktop.verify_tree(window.id, TreeLimits::default()).await.unwrap();
        if found.is_empty() {
            break;
        }
        let watch = desktop.watch(Some(window.id)).await.unwrap();
        desktop.settle(watch, QuietLimits::default()).await.unwrap();
    }
    found
}

fn pick<'t>(tree: &'t Tree, dice: &mut Dice, fits: impl Fn(&Element) -> bool) -> Option<&'t Element> {
    let fitting: Vec<&Element> = tree.elements.iter().filter(|element| fits(element)).collect();
    (!fitting.is_empty()).then(|| fitting[dice.roll(fitting.len())])
}

/// Closes everything that an edit has opened.
async fn clear(desktop: &LinuxDesktop, window: &WindowInfo) {
    for _ in 0..5 {
        let windows = desktop.windows().await.unwrap();
        let others: Vec<_> = windows.iter().filter(|other| other.id != window.id).collect();
        if others.is_empty() {
            return;
        }
        if others.iter().all(|other| other.kind == WindowKind::Popup) {
            desktop.press(&"Escape".parse().unwrap()).await.unwrap();
        } else {
            for other in others.iter().filter(|other| other.kind != WindowKind::Popup) {
                let _ = desktop.close(other.id).await;
            }
        }
        let watch = desktop.watch(Some(window.id)).await.unwrap();
        desktop.settle(watch, QuietLimits::default()).await.unwrap();
    }
}

async fn press(desktop: &LinuxDesktop, keys: &[&str]) {
    for key in keys {
        desktop.press(&key.parse().unwrap()).await.unwrap();
    }
}

/// One edit or movement by mouse, keyboard or accessibility interface.
async fn edit(desktop: &LinuxDesktop, window: &WindowInfo, dice: &mut Dice, safe: &[&str]) {
    let seen = tree(desktop, window).await;
    let watch = desktop.watch(Some(window.id)).await.unwrap();
    match dice.roll(10) {
        0 | 1 => desktop.type_text(&format!("word{}\n", dice.roll(1000))).await.unwrap(),
        2 => press(desktop, &["Up", "Up", "Right"]).await,
        3 => press(desktop, &["Page_Down"]).await,
        4 => press(desktop, &["Page_Up"]).await,
        5 => press(desktop, &["ctrl+z"]).await,
        6 => {
            let down = if dice.roll(2) == 0 { 3 } else { -3 };
            desktop.scroll(window.bounds.center(), 0, down).await.unwrap();
        }
        7 => {
            let menu = |element: &Element| element.role == Role::MENU && element.bounds.is_some();
            if let Some(menu) = pick(&seen, dice, menu) {
                desktop.click(menu.bounds.unwrap().center(), Button::Left, 1).await.unwrap();
            }
        }
        8 => {
            let known = |element: &Element| safe.contains(&element.name.as_str());
            if let Some(button) = pick(&seen, dice, known) {
                let _ = desktop.perform(button.id, &ElementAction::Default).await;
            }
        }
        _ => {
            let (width, height) = (window.bounds.width / 2, window.bounds.height / 2);
            let across = i32::try_from(dice.roll(usize::try_from(width).unwrap())).unwrap();
            let down = i32::try_from(dice.roll(usize::try_from(height).unwrap())).unwrap();
            let at = Point::new(window.bounds.x + width / 3 + across, window.bounds.y + height / 3 + down);
            desktop.click(at, Button::Left, 1).await.unwrap();
        }
    }
    desktop.settle(watch, QuietLimits::default()).await.unwrap();
}

/// Edits a window many times, and compares the mirror every few edits.
async fn edits_are_mirrored(
    desktop: &LinuxDesktop,
    window: &WindowInfo,
    count: usize,
    seed: u64,
    safe: &[&str],
) {
    let mut dice = Dice(seed);
    for round in 1..=count {
        edit(desktop, window, &mut dice, safe).await;
        if round % 5 == 0 || round == count {
            let found = differences(desktop, window).await;
            let listed: Vec<String> = found.iter().map(|one| format!("{one:?}")).collect();
            assert!(found.is_empty(), "after {round} edits:\n{}", listed.join("\n"));
        }
        clear(desktop, window).await;
    }
}

#[tokio::test]
async fn an_editor_and_its_mirror_stay_equal() {
    let Some(desktop) = desktop(&["mousepad"]).await else { return };
    let window = editor(&desktop, "note.txt").await;
    edits_are_mirrored(&desktop, &window, 100, 0x9e37_79b9, &[]).await;
    desktop.shut_down().await;
}

#[tokio::test]
async fn a_spreadsheet_and_its_mirror_stay_equal() {
    let Some(desktop) = desktop(&["soffice"]).await else { return };
    let window = office(&desktop, "numbers.fods", SHEET).await;
    let safe = ["Bold", "Italic", "Align Left", "Align Center", "Undo"];
    edits_are_mirrored(&desktop, &window, 40, 0x1234_5678, &safe).await;
    desktop.shut_down().await;
}

/// A paragraph in Writer gets another role with its style.
#[tokio::test]
async fn a_paragraph_that_becomes_a_heading_is_read_as_one() {
    let Some(desktop) = desktop(&["soffice"]).await else { return };
    let window = office(&desktop, "report.fodt", TEXT).await;
    let role_of = async |text: &str| {
        let seen = tree(&desktop, &window).await;
        let found = seen.elements.iter().find(|element| element.text.as_deref() == Some(text));
        found.unwrap_or_else(|| panic!("no {text} in\n{}", outline(&seen))).role.clone()
    };
    for (keys, role) in [("ctrl+1", "heading"), ("ctrl+0", "paragraph"), ("ctrl+1", "heading")] {
        let watch = desktop.watch(Some(window.id)).await.unwrap();
        press(&desktop, &["ctrl+Home", keys]).await;
        desktop.settle(watch, QuietLimits::default()).await.unwrap();
        assert_eq!(role_of("Summary").await.name(), role, "after {keys}");
        assert_eq!(differences(&desktop, &window).await, []);
    }
    desktop.shut_down().await;
}

/// Waits until an application is quiet.
async fn quiet(stage: &Stage) {
    let watch = stage.desktop.watch(Some(stage.window.id)).await.unwrap();
    let limits = QuietLimits { quiet: Duration::from_millis(300), ..QuietLimits::default() };
    stage.desktop.settle(watch, limits).await.unwrap();
}

/// A list of ten thousand rows is read by its visible part, with a bounded number of calls; a second look makes
/// almost none.
async fn a_long_list_costs_little(toolkit: Toolkit) {
    /// The calls of a full look: all rows would take tens of thousands.
    const FIRST_MAX: u64 = 2_500;
    /// Whether the application has announced something, and no more.
    const AGAIN_MAX: u64 = 3;
    let Some(stage) = Stage::start(toolkit, Screen::List).await else { return };
    quiet(&stage).await;
    let before = stage.desktop.questions();
    let first = stage.tree().await;
    let asked = stage.desktop.questions() - before;
    let has = |name: &str| {
        let is_it = |element: &Element| element.name == name || element.text.as_deref() == Some(name);
        first.elements.iter().any(is_it)
    };
    assert!(has("Row 1") && !has("Row 9000"), "{toolkit}:\n{}", outline(&first));
    assert!(first.elements.len() < 300, "{toolkit}: {} elements", first.elements.len());
    assert!(asked < FIRST_MAX, "{toolkit}: {asked} questions");
    let mut fewest = u64::MAX;
    for _ in 0..10 {
        quiet(&stage).await;
        let before = stage.desktop.questions();
        assert_eq!(stage.tree().await.elements.len(), first.elements.len(), "{toolkit}");
        fewest = fewest.min(stage.desktop.questions() - before);
        if fewest <= AGAIN_MAX {
            break;
        }
    }
    assert!(fewest <= AGAIN_MAX, "{toolkit}: {fewest} questions about a window that has not changed");
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_list_in_gtk_3_costs_little() {
    a_long_list_costs_little(Toolkit::Gtk3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_list_in_qt_costs_little() {
    a_long_list_costs_little(Toolkit::Qt).await;
}

#[tokio::test]
async fn nothing_is_read_of_an_excluded_program() {
    let Some(desktop) = desktop(&["mousepad"]).await else { return };
    let window = editor(&desktop, "secret.txt").await;
    let known = tree(&desktop, &window).await.elements.first().unwrap().id;
    desktop.exclude(&["Mousepad".to_owned()]).await.unwrap();
    let before = desktop.questions();
    assert_eq!(tree(&desktop, &window).await.elements, []);
    assert!(desktop.element(known).await.is_err(), "what was known of it is forgotten");
    let asked = desktop.questions() - before;
    assert!(asked <= 4, "{asked} questions, and none of them to the program");
    desktop.exclude(&["other".to_owned()]).await.unwrap();
    assert!(tree(&desktop, &window).await.elements.len() > 5, "it is read again");
    desktop.shut_down().await;
}
