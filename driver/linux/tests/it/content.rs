//! What real applications expose poorly: icon views, fields without names beside labels, buttons that are only described. The
//! application says what happened.

use std::time::{Duration, Instant};

use deskhand_desktop::{IdleWait as _, QuietLimits, TreeLimits};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionTarget, Click, NewValue, TableTarget, TypeTextOptions};
use deskhand_machine::prompt::{ViewListOptions, view_text};
use deskhand_testkit::fixture::{Screen, Toolkit};
use deskhand_ui::{
    Description, Element, ElementQuery, Role, Surface, Tree, WindowView,
    action::{Condition, Verdict},
};
use serde_json::json;

use crate::fixtures::{Stage, outline};

const BOUND: Duration = Duration::from_secs(30);

async fn content() -> Option<Stage> {
    Stage::start(Toolkit::Gtk3, Screen::Content).await
}

async fn shows(stage: &Stage, name: &str) {
    let condition = Condition::Appears(ElementQuery::named(name));
    let shown = act::wait_for(&stage.desktop, stage.window.id, &condition, BOUND).await.unwrap();
    assert_eq!(shown.effect(), Verdict::Seen, "{}\n{}", shown.summary(), outline(&stage.tree().await));
}

fn icons<'t>(tree: &'t Tree, item: &str) -> Vec<&'t Element> {
    let is_one = |element: &&Element| element.role == Role::ICON && element.name.starts_with(item);
    tree.elements.iter().filter(is_one).collect()
}

fn named<'t>(tree: &'t Tree, name: &str) -> &'t Element {
    let found = tree.elements.iter().find(|element| element.name == name);
    found.unwrap_or_else(|| panic!("no {name} in\n{}", outline(tree)))
}

async fn value(stage: &Stage, control: &str) -> String {
    stage.fixture.state().await.unwrap()[control].as_str().unwrap().to_owned()
}

/// As the agent is shown it.
fn surface(stage: &Stage, tree: Tree) -> Surface {
    Surface { window: stage.window.clone(), tree }
}

/// Clicks an item of an icon view, opens the next one, and goes to the last of `count`.
async fn works_in(control: &str, item: &str, count: usize) {
    let Some(stage) = content().await else { return };
    let (desktop, window, limits) = (&stage.desktop, stage.window.id, ActLimits::default());
    let of = |number: usize| format!("{item} {number}");
    shows(&stage, &of(2)).await;
    let tree = stage.tree().await;
    let all = icons(&tree, item);
    assert!((4..40).contains(&all.len()), "those in view: {}", outline(&tree));
    assert!(all.iter().all(|icon| icon.bounds.is_some()), "{}", outline(&tree));

    let click = Click::once(ActionTarget::element(named(&tree, &of(2)).id));
    let report = act::click(desktop, window, &click, &limits).await.unwrap();
    assert_eq!(value(&stage, control).await, of(2), "{}", report.summary());
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    let mark = stage.fixture.mark();
    let twice = Click { count: 2, ..Click::once(ActionTarget::element(named(&tree, &of(3)).id)) };
    act::click(desktop, window, &twice, &limits).await.unwrap();
    let opened = stage.fixture.happens(mark, |entry| entry.event == "opened").await.unwrap();
    assert_eq!(opened.value, of(3));

    // The last one comes into view, and the first ones go.
    act::press_keys(desktop, window, &["End".parse().unwrap()], &limits).await.unwrap();
    shows(&stage, &of(count)).await;
    let tree = stage.tree().await;
    assert!(!icons(&tree, item).iter().any(|icon| icon.name == of(1)), "{}", outline(&tree));
    let stale = desktop.verify_tree(window, TreeLimits::default()).await.unwrap();
    assert!(stale.is_empty(), "{stale:#?}");
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_items_of_an_icon_view_are_listed_clicked_and_scrolled() {
    works_in("Files", "Folder", 60).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_in_view_of_very_many_are_listed() {
    works_in("Photos", "Photo", 300).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_without_a_name_is_found_by_the_label_beside_it() {
    let Some(stage) = content().await else { return };
    let (desktop, window, limits) = (&stage.desktop, stage.window.id, ActLimits::default());
    let shown = surface(&stage, stage.tree().await);
    let view = WindowView { surfaces: vec![shown.clone()], picture: None, notices: Vec::new() };
    let text = view_text(&view, &ViewListOptions::default());
    for field in ["text beside \"Host:\"", "beside \"Port:\"", "beside \"Remarks\""] {
        assert!(text.contains(field), "no {field} in {text}");
    }
    assert!(!text.contains("label \"Host:\""), "it is told once: {text}");
    for (name, typed) in [("Host", "example.org"), ("Port", "8080"), ("Remarks", "none")] {
        let description = Description { name: Some(name.to_owned()), ..Description::default() };
        let id = description.find(std::slice::from_ref(&shown)).unwrap();
        let request = TypeTextOptions { element: Some(id), name: None, text: typed.to_owned(), clear: false };
        let report = act::type_text(desktop, window, &request, &limits).await.unwrap();
        assert_eq!(report.effect(), Verdict::Seen, "{name}: {}", report.summary());
        assert_eq!(value(&stage, name).await, typed, "{}", report.summary());
    }
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_with_pictures_beside_its_texts_is_read() {
    let Some(stage) = content().await else { return };
    let target = TableTarget::Named("Papers".to_owned());
    let report = act::read_table(&stage.desktop, stage.window.id, &target, None).await.unwrap();
    let rows = json!([["drafts", "folder"], ["report.txt", "text"]]);
    assert_eq!(report.output["rows"], rows, "{}", report.summary());
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_that_a_small_window_cuts_off_is_reached_through_a_button_that_is_only_described() {
    let Some(stage) = content().await else { return };
    let path = ["More actions", "Entry 40"].map(str::to_owned);
    let report = act::visit(&stage.desktop, stage.window.id, &path, &ActLimits::default()).await.unwrap();
    assert_eq!(value(&stage, "Counted").await, "Chosen Entry 40", "{}", report.summary());
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_that_comes_after_its_button_has_changed_is_awaited() {
    let Some(stage) = content().await else { return };
    let path = ["Hints", "About this window"].map(str::to_owned);
    let report = act::visit(&stage.desktop, stage.window.id, &path, &ActLimits::default()).await.unwrap();
    assert_eq!(value(&stage, "Counted").await, "Chosen About this window", "{}", report.summary());
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_tells_what_is_chosen_and_what_its_links_say() {
    let Some(stage) = Stage::start(Toolkit::Page, Screen::Content).await else { return };
    let (desktop, window) = (&stage.desktop, stage.window.id);
    let is = |chosen: &'static str| move |tree: &Tree| named(tree, "Size").text.as_deref() == Some(chosen);
    comes(&stage, is("Small")).await;
    let size = named(&stage.tree().await, "Size").id;
    let report = act::select(desktop, window, size, "Large", &ActLimits::default()).await.unwrap();
    assert_eq!(value(&stage, "Size").await, "Large", "{}", report.summary());
    comes(&stage, is("Large")).await;

    let target = TableTarget::Named("Prices".to_owned());
    let report = act::read_table(desktop, window, &target, None).await.unwrap();
    let output = &report.output;
    assert_eq!(
        output["rows"],
        json!([["Item", "Price"], ["Tea", "3"], ["Milk", "2"]]),
        "{}",
        report.summary()
    );
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gtk_4_says_a_name_once_and_nothing_of_what_is_hidden() {
    let Some(stage) = Stage::start(Toolkit::Gtk4, Screen::Content).await else { return };
    let tree = stage.tree().await;
    assert_eq!(named(&tree, "Save").role, Role::PUSH_BUTTON, "{}", outline(&tree));
    let has = |tree: &Tree, name: &str| tree.elements.iter().any(|element| element.name == name);
    for hidden in ["Could Not Open File", "Try Again", "Save Save"] {
        assert!(!has(&tree, hidden), "{hidden} in {}", outline(&tree));
    }
    let menus = tree.elements.iter().filter(|element| element.description == "opens a menu");
    assert_eq!(menus.count(), 1, "{}", outline(&tree));
    let reveal = Click::once(ActionTarget::element(named(&tree, "Reveal").id));
    act::click(&stage.desktop, stage.window.id, &reveal, &ActLimits::default()).await.unwrap();
    comes(&stage, |tree| has(tree, "Could Not Open File") && has(tree, "Try Again")).await;
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dates_in_one_text_are_set_in_the_order_of_their_language() {
    let Some(stage) = Stage::start(Toolkit::Qt, Screen::Content).await else { return };
    let (desktop, window, limits) = (&stage.desktop, stage.window.id, ActLimits::default());
    for (name, text, expected, verdict) in [
        // Days that could be months, and months with fewer days than the one before.
        ("German", "2026-07-05", "2026-07-05T09:30:00", Verdict::Seen),
        ("German", "2026-12-31", "2026-12-31T09:30:00", Verdict::Seen),
        ("German", "2024-02-29", "2024-02-29T09:30:00", Verdict::Seen),
        ("American", "2026-07-05", "2026-07-05T09:30:00", Verdict::Seen),
        ("American", "2026-11-30", "2026-11-30T09:30:00", Verdict::Seen),
        ("British", "2026-07-05", "2026-07-05T09:30:00", Verdict::Seen),
        ("Swedish", "2026-07-05", "2026-07-05T09:30:00", Verdict::Seen),
        ("Short", "2026-07-05", "2026-07-05T09:30:00", Verdict::Unknown),
        ("Moment", "2026-07-05T17:05", "2026-07-05T17:05:00", Verdict::Seen),
        ("Moment", "08:15", "2026-07-05T08:15:00", Verdict::Seen),
        ("Clock", "17:05", "2005-03-04T17:05:00", Verdict::Seen),
        ("Clock", "00:15", "2005-03-04T00:15:00", Verdict::Seen),
        ("Time", "17:05", "2005-03-04T17:05:00", Verdict::Seen),
        ("Words", "2026-07-05", "2026-07-05T09:30:00", Verdict::Seen),
        ("Words", "2025-12-31", "2025-12-31T09:30:00", Verdict::Seen),
        ("Short words", "2024-02-29", "2024-02-29T09:30:00", Verdict::Seen),
    ] {
        let tree = stage.tree().await;
        let is_it = |one: &&Element| one.name == name && one.role == Role::SPIN_BUTTON;
        let editor = tree.elements.iter().find(is_it).unwrap_or_else(|| panic!("{}", outline(&tree))).id;
        let new = NewValue::Text(text.to_owned());
        let report = act::set_value(desktop, window, editor, None, &new, &limits).await.unwrap();
        assert_eq!(value(&stage, name).await, expected, "{name}: {}", report.summary());
        assert_eq!(report.effect(), verdict, "{name}: {}", report.summary());
    }
    stage.desktop.shut_down().await;
}

/// Waits until the tree of the window is so.
async fn comes(stage: &Stage, is_so: impl Fn(&Tree) -> bool) {
    let (desktop, window) = (&stage.desktop, stage.window.id);
    let begun = Instant::now();
    loop {
        let watch = desktop.watch(Some(window)).await.unwrap();
        let tree = stage.tree().await;
        if is_so(&tree) {
            return;
        }
        assert!(begun.elapsed() < BOUND, "{}", outline(&tree));
        desktop.settle(watch, QuietLimits::default()).await.unwrap();
    }
}
