//! Lists of ten thousand rows of which only those in view are elements, or are listed: scrolled to a row by its text. The application says
//! which row a click on what was found selects.

use std::{ops::RangeInclusive, time::Instant};

use deskhand_desktop::TreeLimits;
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionTarget, Click, ScrollDistance};
use deskhand_machine::{
    intent::element_id,
    prompt::{ViewListOptions, view_text},
};
use deskhand_testkit::fixture::{Screen, Toolkit};
use deskhand_ui::{Element, Role, Surface, Tree, WindowView, action::Verdict, ids::ElementId};
use serde_json::json;

use crate::fixtures::{Stage, outline};

fn list(tree: &Tree) -> ElementId {
    const LISTS: &[Role] = &[Role::LIST, Role::LIST_BOX, Role::TABLE, Role::TREE, Role::TREE_TABLE];
    let found = tree.elements.iter().find(|one| LISTS.contains(&one.role));
    found.unwrap_or_else(|| panic!("no list in\n{}", outline(tree))).id
}

async fn scrolled(toolkit: Toolkit) {
    let Some(stage) = Stage::start(toolkit, Screen::List).await else { return };
    let list = list(&stage.tree().await);
    scrolled_to(&stage, list, "Rows", [("Row 5000", false), ("Row 1234", true)]).await;
    stage.desktop.shut_down().await;
}

async fn scrolled_to(stage: &Stage, list: ElementId, control: &str, rows: [(&str, bool); 2]) {
    let (desktop, window, limits) = (&stage.desktop, stage.window.id, &ActLimits::default());
    for (row, up) in rows {
        let begun = Instant::now();
        let report = act::scroll_to(desktop, window, (list, None), (row, up), limits).await.unwrap();
        println!("{row} after {:?}: {}", begun.elapsed(), report.summary());
        assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
        let found = element_id(&report.output["id"]).unwrap();
        let click = Click::once(ActionTarget::Element { id: found, name: Some(row.to_owned()) });
        let report = act::click(desktop, window, &click, limits).await.unwrap();
        assert_eq!(stage.fixture.state().await.unwrap()[control], json!(row), "{}", report.summary());
        assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_is_scrolled_to_a_row_in_gtk_3() {
    scrolled(Toolkit::Gtk3).await;
}

/// The list around an element.
fn list_around(tree: &Tree, name: &str) -> ElementId {
    let (mut around, mut found) = (Vec::new(), None);
    for element in &tree.elements {
        around.truncate(usize::from(element.depth));
        found = found.or((element.name == name).then(|| around.clone()));
        around.push((element.role.clone(), element.id));
    }
    let around = found.unwrap_or_else(|| panic!("no {name} in\n{}", outline(tree)));
    let list = around.iter().rev().find(|(role, _)| [Role::LIST, Role::TABLE].contains(role));
    list.unwrap_or_else(|| panic!("{name} is in no list: {}", outline(tree))).1
}

fn view_of(stage: &Stage, tree: Tree) -> WindowView {
    let surface = Surface { window: stage.window.clone(), tree };
    WindowView { surfaces: vec![surface], picture: None, notices: Vec::new() }
}

fn rows(tree: &Tree, list: ElementId, start: &str) -> Vec<Element> {
    let is_row = |element: &&Element| element.role == Role::LABEL && element.name.starts_with(start);
    tree.descendants(list).filter(is_row).cloned().collect()
}

/// Scrolls a list of GTK 4, whose rows keep their places when they go out of view: what is listed is where it is drawn.
async fn lists_what_shows(
    screen: Screen,
    (control, start): (&str, &str),
    shown: RangeInclusive<usize>,
    of: &str,
) {
    let Some(stage) = Stage::start(Toolkit::Gtk4, screen).await else { return };
    let (desktop, window, limits) = (&stage.desktop, stage.window.id, &ActLimits::default());
    let first = format!("{start} 1");
    let list = list_around(&stage.tree().await, &first);
    for down in [15, 15, -10, -10] {
        let target = ActionTarget::element(list);
        act::scroll(desktop, window, &target, ScrollDistance { right: 0, down }, limits).await.unwrap();
        let tree = stage.tree().await;
        let all = rows(&tree, list, start);
        assert!(shown.contains(&all.len()), "{down}: {} in {}", all.len(), outline(&tree));
        let text = view_text(&view_of(&stage, tree.clone()), &ViewListOptions::default());
        assert!(text.contains(of), "{text}");
        for at in [all.len() - 1, all.len() / 2, 0] {
            // A row that is cut off comes into view as a whole when it is clicked.
            let tree = stage.tree().await;
            let all = rows(&tree, list, start);
            let row = all.get(at).unwrap_or_else(|| panic!("{}", outline(&tree)));
            let click = Click::once(ActionTarget::element(row.id));
            let report = act::click(desktop, window, &click, limits).await.unwrap();
            let selected = stage.fixture.state().await.unwrap()[control].clone();
            assert_eq!(selected, json!(row.name), "{down}: {}\n{}", report.summary(), outline(&tree));
        }
        let stale = desktop.verify_tree(window, TreeLimits::default()).await.unwrap();
        assert!(stale.is_empty(), "{stale:#?}");
    }
    let item = rows(&stage.tree().await, list, start).swap_remove(1).name;
    let report = act::select(desktop, window, list, &item, limits).await.unwrap();
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
    assert_eq!(stage.fixture.state().await.unwrap()[control], json!(item), "{}", report.summary());
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_in_gtk_4_are_listed_where_they_are_drawn() {
    lists_what_shows(Screen::List, ("Rows", "Row"), 20..=27, "of more").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tiles_in_gtk_4_are_listed_where_they_are_drawn() {
    lists_what_shows(Screen::Content, ("Tiles", "Tile"), 12..=40, "of more").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_columns_in_gtk_4_are_listed_where_they_are_drawn() {
    lists_what_shows(Screen::Content, ("Papers", "Paper"), 4..=9, "").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_is_scrolled_to_a_row_in_gtk_4() {
    let Some(stage) = Stage::start(Toolkit::Gtk4, Screen::Content).await else { return };
    let list = list_around(&stage.tree().await, "Paper 1");
    scrolled_to(&stage, list, "Papers", [("Paper 120", false), ("Paper 31", true)]).await;
    stage.desktop.shut_down().await;
}

/// By the wheel, rows that far down are never reached.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_of_ten_thousand_rows_is_scrolled_to_a_row_in_gtk_4() {
    let Some(stage) = Stage::start(Toolkit::Gtk4, Screen::List).await else { return };
    let list = list_around(&stage.tree().await, "Row 1");
    scrolled_to(&stage, list, "Rows", [("Row 5000", false), ("Row 1234", true)]).await;
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_is_scrolled_to_a_row_in_qt() {
    scrolled(Toolkit::Qt).await;
}
