//! Right click menus that are followed by their names, in real toolkits. GTK 4 and Qt tell no elements of theirs, so that the entries are
//! read in a picture. The application says what was chosen.

use deskhand_desktop::{Button, TreeLimits, UiTree as _, WindowManagement as _};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionReport, ActionTarget, Click};
use deskhand_desktop_detect::{DetectOptions, DetectingDesktop};
use deskhand_desktop_linux::LinuxDesktop;
use deskhand_testkit::fixture::{Fixture, Screen, Toolkit};
use deskhand_ui::{Element, Role, State, Tree, WindowInfo, action::Verdict};
use serde_json::json;

use crate::{
    fixtures::{Stage, outline},
    programs::has_programs,
};

/// A list with a context menu, on a desktop that reads pictures.
struct Cities {
    desktop: DetectingDesktop<LinuxDesktop>,
    fixture: Fixture,
    window: WindowInfo,
}

impl Cities {
    async fn start(toolkit: Toolkit) -> Option<Self> {
        if !has_programs(&["tesseract"]) {
            return None;
        }
        let Stage { desktop, fixture, window } = Stage::start(toolkit, Screen::Several).await?;
        Some(Self { desktop: DetectingDesktop::new(desktop, DetectOptions::default()), fixture, window })
    }

    async fn tree(&self) -> Tree {
        self.desktop.tree(self.window.id, TreeLimits::default()).await.unwrap()
    }

    async fn named(&self, name: &str) -> Element {
        let tree = self.tree().await;
        let found = tree.elements.iter().rfind(|one| one.name == name);
        found.unwrap_or_else(|| panic!("no {name} in\n{}", outline(&tree))).clone()
    }

    async fn visit(&self, of: &Element, path: &[&str]) -> ActionReport {
        let path: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
        let limits = ActLimits::default();
        act::visit_context_menu(&self.desktop, self.window.id, of.id, &path, &limits).await.unwrap()
    }

    async fn click(&self, element: &Element, button: Button) -> ActionReport {
        let click = Click { target: ActionTarget::element(element.id), held: button.into(), count: 1 };
        act::click(&self.desktop, self.window.id, &click, &ActLimits::default()).await.unwrap()
    }

    async fn popups(&self) -> Vec<WindowInfo> {
        let windows = self.desktop.windows().await.unwrap();
        windows.into_iter().filter(|info| info.kind.is_popup()).collect()
    }

    fn chosen(&self) -> Vec<String> {
        let entries = self.fixture.since(0);
        entries.into_iter().filter(|entry| entry.event == "chosen").map(|entry| entry.control).collect()
    }

    async fn end(self) {
        self.desktop.into_inner().shut_down().await;
    }
}

async fn followed(toolkit: Toolkit) {
    let Some(cities) = Cities::start(toolkit).await else { return };
    let lima = cities.named("Lima").await;
    let report = cities.visit(&lima, &["Copy"]).await;
    assert_eq!(report.effect(), Verdict::Seen, "{toolkit}: {}", report.summary());
    assert_eq!(cities.chosen(), ["Copy"], "{toolkit}");

    // A wrong name lists the right ones, and the menu is closed again.
    let report = cities.visit(&lima, &["Delete"]).await;
    assert_eq!(report.effect(), Verdict::Refused, "{toolkit}: {}", report.summary());
    assert!(report.summary().contains("Remove"), "{toolkit}: {}", report.summary());
    assert_eq!(cities.popups().await, [], "{toolkit}: {}", report.summary());
    // What has no menu says so.
    let label = cities.named("Chosen Copy").await;
    let report = cities.visit(&label, &["Copy"]).await;
    assert_eq!(report.effect(), Verdict::Refused, "{toolkit}: {}", report.summary());
    assert!(report.summary().contains("no context menu"), "{toolkit}: {}", report.summary());
    assert_eq!(cities.chosen(), ["Copy"], "{toolkit}");

    let report = cities.visit(&lima, &["Move", "Down"]).await;
    assert_eq!(report.effect(), Verdict::Seen, "{toolkit}: {}", report.summary());
    assert_eq!(cities.chosen(), ["Copy", "Down"], "{toolkit}");
    assert_eq!(cities.fixture.state().await.unwrap()["Counted"], json!("Chosen Down"), "{toolkit}");
    cities.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn context_menus_are_followed_in_gtk_3() {
    followed(Toolkit::Gtk3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn context_menus_are_followed_in_gtk_4() {
    followed(Toolkit::Gtk4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn context_menus_are_followed_in_qt() {
    followed(Toolkit::Qt).await;
}

/// A pop-up with elements of its own closes with the click on one of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_of_an_open_context_menu_is_clicked() {
    let Some(cities) = Cities::start(Toolkit::Gtk3).await else { return };
    let report = cities.click(&cities.named("Lima").await, Button::Right).await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    let popups = cities.popups().await;
    let [menu] = popups.as_slice() else { panic!("{popups:?}") };
    let tree = cities.desktop.tree(menu.id, TreeLimits::default()).await.unwrap();
    let is_entry = |one: &&Element| {
        one.role == Role::MENU_ITEM && one.name == "Remove" && one.states.has(State::Showing)
    };
    let entry = tree.elements.iter().find(is_entry).unwrap_or_else(|| panic!("{}", outline(&tree)));
    let report = cities.click(entry, Button::Left).await;
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert_eq!(cities.chosen(), ["Remove"]);
    assert_eq!(cities.popups().await, []);
    cities.end().await;
}
