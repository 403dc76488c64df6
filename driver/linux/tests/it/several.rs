//! Several items of a list, and clicks with keys held, in real toolkits; the application says what is selected.

use deskhand_desktop::{Button, InputInjection as _, PointerChord};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionTarget, Click};
use deskhand_testkit::fixture::{Screen, Toolkit};
use deskhand_ui::{Element, Role, action::Verdict, geometry::Point, ids::ElementId, keys::KeyModifier};

use crate::{
    fixtures::{Stage, outline},
    linux_x11::{desktop, window_titled},
    programs::has_programs,
    x11_client::{Client, Place},
};

struct Cities(Stage);

impl Cities {
    async fn row(&self, name: &str) -> Element {
        let tree = self.0.tree().await;
        let rows: Vec<&Element> = tree.elements.iter().filter(|one| one.name == name).collect();
        let row = rows.last().unwrap_or_else(|| panic!("no {name} in\n{}", outline(&tree)));
        (*row).clone()
    }

    async fn list(&self) -> ElementId {
        let tree = self.0.tree().await;
        let is_list = |one: &&Element| {
            [Role::TREE_TABLE, Role::TABLE, Role::LIST, Role::TREE, Role::LIST_BOX].contains(&one.role)
        };
        let list = tree.elements.iter().find(is_list);
        list.unwrap_or_else(|| panic!("no list in\n{}", outline(&tree))).id
    }

    async fn select(&self, names: &[&str]) -> act::ActionReport {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let (desktop, window) = (&self.0.desktop, self.0.window.id);
        act::select_items(desktop, window, self.list().await, &names, &ActLimits::default()).await.unwrap()
    }

    /// What is selected, as the application says.
    async fn selected(&self) -> String {
        self.0.fixture.state().await.unwrap()["Cities"].as_str().unwrap().to_owned()
    }
}

async fn several(toolkit: Toolkit) {
    let Some(stage) = Stage::start(toolkit, Screen::Several).await else { return };
    let cities = Cities(stage);
    let report = cities.select(&["Lima", "Rome", "Berlin"]).await;
    assert_eq!(report.effect(), Verdict::Seen, "{toolkit}: {}", report.summary());
    assert_eq!(cities.selected().await, "Berlin, Lima, Rome", "{toolkit}");
    // It holds already, and then with one less.
    let report = cities.select(&["Rome", "Berlin", "Lima"]).await;
    assert_eq!(report.effect(), Verdict::Seen, "{toolkit}: {}", report.summary());
    assert_eq!(cities.selected().await, "Berlin, Lima, Rome", "{toolkit}");
    // The last one has to be scrolled to.
    let report = cities.select(&["Berlin", "Zürich"]).await;
    assert_eq!(cities.selected().await, "Berlin, Zürich", "{toolkit}: {}", report.summary());
    assert_eq!(report.effect(), Verdict::Seen, "{toolkit}: {}", report.summary());
    let report = cities.select(&["Berlin", "Atlantis"]).await;
    assert_eq!(report.effect(), Verdict::Refused, "{toolkit}: {}", report.summary());
    assert!(report.summary().contains("Atlantis"), "{toolkit}: {}", report.summary());
    assert_eq!(cities.selected().await, "Berlin, Zürich", "{toolkit}: a refusal does nothing");
    let report = cities.select(&["Lima"; 51]).await;
    assert!(report.summary().contains("1 to 50 items"), "{toolkit}: {}", report.summary());

    let report = cities.select(&["Berlin"]).await;
    assert_eq!(report.effect(), Verdict::Seen, "{toolkit}: {}", report.summary());
    assert_eq!(cities.selected().await, "Berlin", "{toolkit}: {}", report.summary());
    let held = PointerChord { button: Button::Left, modifiers: vec![KeyModifier::Shift] };
    let click = Click { target: ActionTarget::element(cities.row("Oslo").await.id), held, count: 1 };
    let (desktop, window) = (&cities.0.desktop, cities.0.window.id);
    let report = act::click(desktop, window, &click, &ActLimits::default()).await.unwrap();
    assert_eq!(cities.selected().await, "Berlin, Lima, Oslo", "{toolkit}: {}", report.summary());
    assert!(report.summary().contains("shift+click"), "{toolkit}: {}", report.summary());
    cities.0.desktop.shut_down().await;
}

#[tokio::test]
async fn keys_are_held_during_a_click_and_up_again_after_it() {
    if !has_programs(&["mousepad", "soffice"]) {
        return;
    }
    let desktop = desktop().await;
    let mut client = Client::open(&desktop, "Board", Place::default());
    let window = window_titled(&desktop, "Board").await;
    client.wait_until_drawn();
    let at = |x: i32, y: i32| Point::new(window.bounds.x + x, window.bounds.y + y);
    let held = PointerChord { button: Button::Left, modifiers: vec![KeyModifier::Ctrl, KeyModifier::Shift] };
    desktop.click(at(11, 12), held, 1).await.unwrap();
    assert_eq!(client.read_buttons(2), ["+ctrl+shift+1 11,12", "-ctrl+shift+1 11,12"]);
    desktop.click(at(50, 12), Button::Left, 1).await.unwrap();
    assert_eq!(client.read_buttons(2), ["+1 50,12", "-1 50,12"]);
    desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_items_are_selected_in_gtk_3() {
    several(Toolkit::Gtk3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_items_are_selected_in_gtk_4() {
    several(Toolkit::Gtk4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_items_are_selected_in_qt() {
    several(Toolkit::Qt).await;
}
