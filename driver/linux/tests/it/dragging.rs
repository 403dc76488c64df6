//! Drag and drop, again and again, in every toolkit beside busy loops.
//!
//! `DESKHAND_DRAG_RUNS` sets how often something is dragged.

use deskhand_desktop::PointerChord;
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionTarget};
use deskhand_testkit::fixture::{Screen, Toolkit};
use deskhand_ui::action::Verdict;

use crate::{
    fixtures::{Stage, outline},
    typing::{Load, number},
};

async fn drops_each_time(toolkit: Toolkit) {
    let runs = number("DESKHAND_DRAG_RUNS", 3);
    let Some(stage) = Stage::start(toolkit, Screen::Form).await else { return };
    let _load = Load::start();
    let mut told = Vec::new();
    for _ in 0..runs {
        let tree = stage.tree().await;
        let named = |name: &str| {
            let found = tree.elements.iter().find(|element| element.name.starts_with(name));
            ActionTarget::element(found.unwrap_or_else(|| panic!("no {name} in\n{}", outline(&tree))).id)
        };
        let (from, to) = (named("Drag me"), named("Drop"));
        let limits = ActLimits::default();
        let report =
            act::drag(&stage.desktop, stage.window.id, (&from, &to), &PointerChord::default(), &limits)
                .await
                .unwrap();
        told.push(report.summary());
        assert_eq!(report.effect(), Verdict::Seen, "{toolkit}: {told:#?}");
    }
    let truth = stage.fixture.state().await.unwrap();
    assert_eq!(truth["Drop here"], format!("Dropped {runs}"), "{toolkit}: {told:#?}");
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_dragged_is_dropped_in_gtk_3() {
    drops_each_time(Toolkit::Gtk3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_dragged_is_dropped_in_gtk_4() {
    drops_each_time(Toolkit::Gtk4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_dragged_is_dropped_in_qt() {
    drops_each_time(Toolkit::Qt).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_dragged_is_dropped_in_a_page() {
    drops_each_time(Toolkit::Page).await;
}
