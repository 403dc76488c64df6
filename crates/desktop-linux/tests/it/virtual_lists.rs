//! Lists of ten thousand rows of which only those in view are elements, or are listed: scrolled to a row by its text. The application says
//! which row a click on what was found selects.

use std::time::Instant;

use deskhand_core::{
    command::Verdict,
    ids::ElementId,
    intent::element_id,
    ui::{Role, Tree},
};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, Click, Target};
use deskhand_testkit::fixture::{Screen, Toolkit};
use serde_json::json;

use crate::fixtures::{Stage, outline};

fn list(tree: &Tree) -> ElementId {
    const LISTS: &[Role] = &[Role::LIST, Role::LIST_BOX, Role::TABLE, Role::TREE, Role::TREE_TABLE];
    let found = tree.elements.iter().find(|one| LISTS.contains(&one.role));
    found.unwrap_or_else(|| panic!("no list in\n{}", outline(tree))).id
}

async fn scrolled(toolkit: Toolkit) {
    let Some(stage) = Stage::start(toolkit, Screen::List).await else { return };
    let (desktop, window, limits) = (&stage.desktop, stage.window.id, &ActLimits::default());
    for (row, up) in [("Row 5000", false), ("Row 1234", true)] {
        let target = (list(&stage.tree().await), None);
        let begun = Instant::now();
        let report = act::scroll_to(desktop, window, target, (row, up), limits).await.unwrap();
        println!("{toolkit}: {row} after {:?}: {}", begun.elapsed(), report.summary());
        assert_eq!(report.effect(), Verdict::Seen, "{toolkit}: {}", report.summary());
        let found = element_id(&report.output["id"]).unwrap();
        let click = Click::once(Target::Element { id: found, name: Some(row.to_owned()) });
        let report = act::click(desktop, window, &click, limits).await.unwrap();
        assert_eq!(report.effect(), Verdict::Seen, "{toolkit}: {}", report.summary());
        assert_eq!(stage.fixture.state().await.unwrap()["Rows"], json!(row), "{toolkit}");
    }
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_is_scrolled_to_a_row_in_gtk_3() {
    scrolled(Toolkit::Gtk3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_is_scrolled_to_a_row_in_qt() {
    scrolled(Toolkit::Qt).await;
}
