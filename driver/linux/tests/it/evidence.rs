//! What verdicts rest on, in real toolkits: what is said, what was done once, and what an earlier input still brought about.

use deskhand_desktop::{Button, InputInjection as _};
use deskhand_desktop_act::{self as act, ActLimits, ActionReport, ActionTarget, Click};
use deskhand_testkit::fixture::{Screen, Toolkit};
use deskhand_ui::{
    Element,
    action::{ActionProof, Evidence, Verdict},
};
use serde_json::json;

use crate::fixtures::{Stage, outline};

async fn control(stage: &Stage, name: &str) -> Element {
    let tree = stage.tree().await;
    let found = tree.elements.iter().find(|one| one.name == name && one.role.is_interactive());
    found.unwrap_or_else(|| panic!("no {name} in\n{}", outline(&tree))).clone()
}

async fn click(stage: &Stage, name: &str) -> ActionReport {
    let Element { id, name, .. } = control(stage, name).await;
    let request = Click::once(ActionTarget::Element { id, name: Some(name) });
    act::click(&stage.desktop, stage.window.id, &request, &ActLimits::default()).await.unwrap()
}

/// The rejection of a form is quoted, and one click appends one line.
async fn says_what_happened(stage: &Stage, toolkit: Toolkit) {
    let report = click(stage, "Send").await;
    let Evidence::Seen { proof: ActionProof::Says { text, .. } } = &report.actions[0].evidence else {
        panic!("{toolkit}: {}", report.summary())
    };
    // The text of a page comes by line.
    assert!(text.ends_with("Rejected: enter an address"), "{toolkit}: {text}");
    let report = click(stage, "Add line").await;
    let state = stage.fixture.state().await.unwrap();
    assert_eq!(state["Journal"], json!("Line 1\n"), "{toolkit}: {}", report.summary());
}

/// An input that a busy application handles late does not prove the click after it.
async fn an_earlier_input_proves_nothing(stage: &Stage, toolkit: Toolkit) {
    let edit = control(stage, "Edit").await.bounds.unwrap().center();
    let mark = stage.fixture.mark();
    stage.fixture.ask("busy", json!({ "milliseconds": 700 })).await.unwrap();
    stage.desktop.click(edit, Button::Left, 1).await.unwrap();
    let report = click(stage, "Inert").await;
    assert_ne!(report.effect(), Verdict::Seen, "{toolkit}: {}", report.summary());
    let told = stage.fixture.since(mark);
    assert!(told.iter().any(|entry| entry.control == "Edit"), "{toolkit}: {told:?}");
}

async fn holds(toolkit: Toolkit) {
    let Some(stage) = Stage::start(toolkit, Screen::Teeth).await else { return };
    says_what_happened(&stage, toolkit).await;
    // A page runs in another process than the one that answers.
    if !matches!(toolkit, Toolkit::Page) {
        an_earlier_input_proves_nothing(&stage, toolkit).await;
    }
    stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evidence_in_gtk_3_is_of_the_action() {
    holds(Toolkit::Gtk3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evidence_in_gtk_4_is_of_the_action() {
    holds(Toolkit::Gtk4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evidence_in_qt_is_of_the_action() {
    holds(Toolkit::Qt).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evidence_in_a_page_is_of_the_action() {
    holds(Toolkit::Page).await;
}
