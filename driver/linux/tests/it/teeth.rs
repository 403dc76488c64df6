//! The fixtures' screen "teeth" does to its controls what it says, so that other tests can rely on its word.

use std::time::Duration;

use deskhand_desktop::{Button, InputInjection as _};
use deskhand_desktop_act as act;
use deskhand_testkit::fixture::{Screen, Toolkit};
use deskhand_ui::{
    Element, ElementQuery,
    action::{Condition, Verdict},
    geometry::{Point, Screen as OnScreen},
};
use serde_json::{Value, json};

use crate::fixtures::{Stage, outline};

const BOUND: Duration = Duration::from_secs(30);

/// The controls that every toolkit shows.
const NAMES: [&str; 16] = [
    "Inert",
    "Edit",
    "Undo",
    "Save",
    "Settings",
    "Email",
    "Send",
    "Keep",
    "Add line",
    "Refresh",
    "Apply",
    "Corrected",
    "Width",
    "Day",
    "Bold",
    "Document",
];

impl Stage {
    /// Presses the mouse button on what lies here, whatever it is.
    async fn press(&self, at: Point<OnScreen>) {
        self.desktop.click(at, Button::Left, 1).await.unwrap();
    }

    async fn named(&self, name: &str) -> Element {
        let tree = self.tree().await;
        let mut named = tree.elements.iter().filter(|one| one.name == name);
        let found = named.clone().find(|one| one.role.is_interactive()).or_else(|| named.next());
        found.unwrap_or_else(|| panic!("no {name} in\n{}", outline(&tree))).clone()
    }

    /// Waits until an element shows; a page tells of it some time later.
    async fn appears(&self, name: &str) {
        let shows = Condition::Appears(ElementQuery::named(name));
        let shown = act::wait_for(&self.desktop, self.window.id, &shows, BOUND).await.unwrap();
        assert_eq!(shown.effect(), Verdict::Seen, "{}\n{}", shown.summary(), outline(&self.tree().await));
    }

    async fn center(&self, name: &str) -> Point<OnScreen> {
        self.named(name).await.bounds.unwrap().center()
    }

    async fn tell(&self, command: &str, with: Value) -> Value {
        self.fixture.ask(command, with).await.unwrap()
    }
}

/// What a press at the place of the target hits after each race.
async fn races_are_told(stage: &Stage) {
    let at = stage.center("Keep").await;
    for (race, control) in [("rename", "Target"), ("replace", "Decoy"), ("move", "Decoy"), ("cover", "Decoy")]
    {
        stage.tell("reset", json!({})).await;
        let mark = stage.fixture.mark();
        stage.tell("race", json!({ "kind": race })).await;
        stage.fixture.happens(mark, |entry| entry.event == "raced").await.unwrap();
        // A layout that is still to come would take the press for the old one.
        stage.appears("Delete all my files").await;
        stage.press(at).await;
        let hit = stage.fixture.happens(mark, |entry| entry.event == "clicked").await.unwrap();
        let found = (hit.control.as_str(), hit.effect, hit.value.as_str().unwrap());
        assert_eq!(found, (control, false, "Delete all my files"), "{race}");
    }
    stage.tell("reset", json!({})).await;
    let mark = stage.fixture.mark();
    stage.appears("Keep").await;
    stage.press(at).await;
    let hit = stage.fixture.happens(mark, |entry| entry.event == "clicked").await.unwrap();
    assert_eq!((hit.control.as_str(), hit.effect), ("Target", true), "{hit:?}");
}

async fn bites(toolkit: Toolkit) {
    let Some(stage) = Stage::start(toolkit, Screen::Teeth).await else { return };
    for name in NAMES {
        stage.named(name).await;
    }
    races_are_told(&stage).await;

    // The form rejects, and one press adds one line.
    for (button, effect) in [("Send", false), ("Add line", true)] {
        let (at, mark) = (stage.center(button).await, stage.fixture.mark());
        stage.press(at).await;
        let clicked = stage.fixture.happens(mark, |entry| entry.event == "clicked").await.unwrap();
        assert_eq!((clicked.control.as_str(), clicked.effect), (button, effect));
    }
    let state = stage.fixture.state().await.unwrap();
    assert_eq!(
        (&state["Answer"], &state["Journal"]),
        (&json!("Rejected: enter an address"), &json!("Line 1\n"))
    );

    // The document is half written for a while, and then whole.
    stage.tell("put", json!({ "control": "Document", "value": "abcdef" })).await;
    let (at, mark) = (stage.center("Save").await, stage.fixture.mark());
    stage.press(at).await;
    stage.fixture.happens(mark, |entry| entry.control == "Save" && entry.event == "clicked").await.unwrap();
    assert_eq!(stage.tell("written", json!({})).await, "abc");
    stage.fixture.happens(mark, |entry| entry.event == "late").await.unwrap();
    assert_eq!(stage.tell("written", json!({})).await, "abcdef");

    // Rows are sorted by a press on their header.
    let tree = stage.tree().await;
    let head = tree.elements.iter().find(|one| one.name == "Name" && one.bounds.is_some());
    let at = head
        .unwrap_or_else(|| panic!("{toolkit}: no header in\n{}", outline(&tree)))
        .bounds
        .unwrap()
        .center();
    let mark = stage.fixture.mark();
    stage.press(at).await;
    stage.fixture.happens(mark, |entry| entry.event == "sorted").await.unwrap();
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn teeth_in_gtk_3_bite() {
    bites(Toolkit::Gtk3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn teeth_in_gtk_4_bite() {
    bites(Toolkit::Gtk4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn teeth_in_qt_bite() {
    bites(Toolkit::Qt).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn teeth_in_a_page_bite() {
    bites(Toolkit::Page).await;
}
