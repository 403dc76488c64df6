//! Fixture applications on virtual desktops of their own.

use std::time::Duration;

use deskhand_desktop::{LaunchRequest, TreeLimits, UiTree};
use deskhand_desktop_act as act;
use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::{Confine, LinuxDesktop, VirtualOptions};
use deskhand_testkit::fixture::{FIREFOX, Fixture, Screen, Toolkit};
use deskhand_ui::{
    Element, ElementQuery, Tree, WindowInfo,
    action::{Condition, Verdict},
    geometry::Size,
};

use serde_json::{Value, json};

use crate::programs::has_programs;

/// How a fixture is started.
pub(crate) fn request_of(fixture: &Fixture) -> LaunchRequest {
    LaunchRequest { program: fixture.program().to_owned(), arguments: fixture.arguments().to_vec() }
}

/// A fixture application with its desktop and window.
pub(crate) struct Stage {
    pub(crate) desktop: LinuxDesktop,
    pub(crate) fixture: Fixture,
    pub(crate) window: WindowInfo,
}

impl Stage {
    /// Starts an application on a desktop of its own; none where it is not installed.
    pub(crate) async fn start(toolkit: Toolkit, screen: Screen) -> Option<Self> {
        Self::start_confined(toolkit, screen, Confine::off()).await
    }

    /// The same with a confined application.
    pub(crate) async fn start_confined(toolkit: Toolkit, screen: Screen, confine: Confine) -> Option<Self> {
        if !has_programs(&[toolkit.needs()]) {
            return None;
        }
        let fixture = Fixture::prepare(toolkit, screen).await.unwrap();
        Some(Self::start_fixture(fixture, screen, confine).await)
    }

    /// Starts the page in Firefox.
    pub(crate) async fn start_in_firefox(screen: Screen) -> Option<Self> {
        if !has_programs(&[FIREFOX]) {
            return None;
        }
        let fixture = Fixture::prepare_in_firefox(screen).await.unwrap();
        Some(Self::start_fixture(fixture, screen, Confine::off()).await)
    }

    async fn start_fixture(fixture: Fixture, screen: Screen, confine: Confine) -> Self {
        let program = fixture.program().to_owned();
        let size = Size { width: 1280, height: 900 };
        let options = VirtualOptions { size, confine, ..VirtualOptions::default() };
        let desktop = LinuxDesktop::start_virtual(options).await.unwrap();
        let launched = act::launch(&desktop, &request_of(&fixture), &ActLimits::default()).await.unwrap();
        let window = launched.window.clone().unwrap_or_else(|| panic!("{program}: {}", launched.summary()));
        fixture.ready().await.unwrap();
        // A page tells of its elements some time after its window is there.
        let control = match screen {
            Screen::Form => Some("Agree"),
            Screen::Text | Screen::Writing => Some("Name"),
            Screen::Faults => Some("Stuck volume"),
            Screen::Teeth => Some("Document"),
            Screen::Several | Screen::Content => Some("Counted 0"),
            Screen::List | Screen::Canvas => None,
        };
        if let Some(control) = control {
            let shows = Condition::Appears(ElementQuery::named(control));
            let bound = Duration::from_secs(60);
            let shown = act::wait_for(&desktop, window.id, &shows, bound).await.unwrap();
            let stale = desktop.verify_tree(window.id, TreeLimits::default()).await;
            assert_eq!(shown.effect(), Verdict::Seen, "{program}: {}; wrong: {stale:?}", shown.summary());
        }
        Self { desktop, fixture, window }
    }

    /// The elements that show.
    pub(crate) async fn tree(&self) -> Tree {
        self.desktop.tree(self.window.id, TreeLimits::default()).await.unwrap()
    }
}

/// A tree as text, for failures.
pub(crate) fn outline(tree: &Tree) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for element in &tree.elements {
        let indent = usize::from(element.depth);
        let Element { id, states, text: own, value, patterns, .. } = element;
        let (label, bounds) = (element.label(), element.bounds.map(<[i32; 4]>::from));
        let value = value.map(|value| value.current);
        writeln!(text, "{:indent$}{id} {label} {own:?} {value:?} {bounds:?} [{states}] {patterns:?}", "")
            .unwrap();
    }
    text
}

/// The application comes up with its controls in the tree, and answers honestly.
async fn comes_up(toolkit: Toolkit) {
    let Some(stage) = Stage::start(toolkit, Screen::Form).await else { return };
    let tree = stage.tree().await;
    let shows = |name: &str| tree.elements.iter().any(|element| element.name == name);
    for name in ["Count", "Agree", "Blue", "Name", "Volume", "Notes"] {
        assert!(shows(name), "{toolkit}: no {name} in\n{}", outline(&tree));
    }
    let put =
        |control: &str, value: Value| stage.fixture.ask("put", json!({ "control": control, "value": value }));
    put("Agree", json!(true)).await.unwrap();
    put("Name", json!("東京")).await.unwrap();
    let state = stage.fixture.state().await.unwrap();
    assert_eq!((&state["Agree"], &state["Name"]), (&json!(true), &json!("東京")), "{toolkit}: {state}");
    assert_eq!(
        stage.fixture.mark(),
        0,
        "what the test puts there is no effect: {:?}",
        stage.fixture.since(0)
    );
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fixture_in_gtk_3_comes_up() {
    comes_up(Toolkit::Gtk3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fixture_in_gtk_4_comes_up() {
    comes_up(Toolkit::Gtk4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fixture_in_qt_comes_up() {
    comes_up(Toolkit::Qt).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fixture_that_is_a_page_comes_up() {
    comes_up(Toolkit::Page).await;
}
