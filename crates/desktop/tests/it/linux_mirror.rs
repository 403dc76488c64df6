//! The mirror of an application against the application itself, after edits of every kind.

use deskhand_core::{
    geometry::Point,
    ui::{Element, Role, Tree, WindowInfo, WindowKind},
};
use deskhand_desktop::{
    Button, ElementAction, Input, QuietLimits, Settling, TreeLimits, UiTree, Windowing,
    linux::{Difference, LinuxDesktop},
};

use crate::linux_atspi::{SHEET, desktop, editor, office, tree};

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides.max(1)).unwrap()).unwrap()
    }
}

/// In what the mirror differs. An application that was caught in the middle of its work gets a second look.
async fn differences(desktop: &LinuxDesktop, window: &WindowInfo) -> Vec<Difference> {
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

/// Closes whatever an edit has opened.
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

/// Edits a window many times, and holds the mirror against it every few edits.
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
    edits_are_mirrored(&desktop, &window, 60, 0x9e37_79b9, &[]).await;
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
