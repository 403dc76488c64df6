//! What applications make of written text, numbers and passwords, judged by their own log.

use std::time::Duration;

use deskhand_desktop::{IdleWait as _, InputInjection as _, QuietLimits};
use deskhand_desktop_act as act;
use deskhand_desktop_act::{ActLimits, ActionReport, NewValue, TypeTextOptions};
use deskhand_testkit::fixture::{Screen, Toolkit};
use deskhand_ui::{
    Element,
    action::{ActionProof, Evidence, Shortfall, Uncertainty, Verdict},
};
use serde_json::{Value, json};

use crate::fixtures::{Stage, outline};

const BOUND: Duration = Duration::from_secs(30);

struct Writing {
    stage: Stage,
    limits: ActLimits,
}

impl Writing {
    async fn start(toolkit: Toolkit, screen: Screen) -> Option<Self> {
        Some(Self { stage: Stage::start(toolkit, screen).await?, limits: ActLimits::default() })
    }

    async fn named(&self, name: &str) -> Element {
        let tree = self.stage.tree().await;
        let found =
            tree.elements.iter().find(|element| element.name == name && element.role.is_interactive());
        found.unwrap_or_else(|| panic!("no {name} in\n{}", outline(&tree))).clone()
    }

    async fn type_into(&self, name: Option<&str>, text: &str, clear: bool) -> ActionReport {
        let element = match name {
            Some(name) => Some(self.named(name).await.id),
            None => None,
        };
        let request = TypeTextOptions { element, name: None, text: text.to_owned(), clear };
        let window = self.stage.window.id;
        let report = act::type_text(&self.stage.desktop, window, &request, &self.limits).await.unwrap();
        println!("type {text:?} into {name:?}: {} {}", report.effect(), report.summary());
        report
    }

    async fn set(&self, name: &str, value: NewValue) -> ActionReport {
        let (id, window) = (self.named(name).await.id, self.stage.window.id);
        let report =
            act::set_value(&self.stage.desktop, window, id, None, &value, &self.limits).await.unwrap();
        println!("set {name} to {value:?}: {} {}", report.effect(), report.summary());
        report
    }

    async fn select(&self, name: &str, part: &str) -> ActionReport {
        let (id, window) = (self.named(name).await.id, self.stage.window.id);
        let report =
            act::select_text(&self.stage.desktop, window, (id, None), part, &self.limits).await.unwrap();
        println!("select {part:?} in {name}: {} {}", report.effect(), report.summary());
        report
    }

    async fn value(&self, name: &str) -> Value {
        self.stage.fixture.state().await.unwrap()[name].clone()
    }

    /// Has the application change a text, and waits until the text shows: it is announced later, with the next frame.
    async fn put(&self, name: &str, text: &str) {
        self.stage.fixture.ask("put", json!({ "control": name, "value": text })).await.unwrap();
        let shows = async {
            loop {
                let watch = self.stage.desktop.watch(Some(self.stage.window.id)).await.unwrap();
                if self.named(name).await.text.as_deref() == Some(text) {
                    break;
                }
                self.stage.desktop.settle(watch, QuietLimits::default()).await.unwrap();
            }
        };
        tokio::time::timeout(BOUND, shows).await.expect("the text shows");
    }
}

fn seen(report: &ActionReport) {
    assert_eq!(report.effect(), Verdict::Seen, "{}", report.summary());
}

/// A part of a text that is selected, or all of it, is replaced; nothing is joined with it.
async fn replaces_what_is_selected(toolkit: Toolkit) {
    let Some(writing) = Writing::start(toolkit, Screen::Text).await else { return };
    for name in ["Name", "Notes"] {
        writing.put(name, "value: 228 units").await;
        seen(&writing.select(name, "228").await);
        seen(&writing.type_into(None, "7", false).await);
        assert_eq!(writing.value(name).await, json!("value: 7 units"), "{toolkit} {name}");
        writing.stage.desktop.press(&"ctrl+a".parse().unwrap()).await.unwrap();
        seen(&writing.type_into(None, "Out", false).await);
        assert_eq!(writing.value(name).await, json!("Out"), "{toolkit} {name}");
        writing.stage.desktop.press(&"Home".parse().unwrap()).await.unwrap();
        seen(&writing.type_into(Some(name), "Far ", false).await);
        let value = writing.value(name).await;
        assert!(["Far Out", "OutFar "].contains(&value.as_str().unwrap()), "{toolkit} {name}: {value}");
        seen(&writing.type_into(Some(name), "new", true).await);
        assert_eq!(writing.value(name).await, json!("new"), "{toolkit} {name}");
    }
    writing.stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn typing_replaces_what_is_selected_in_gtk_3() {
    replaces_what_is_selected(Toolkit::Gtk3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn typing_replaces_what_is_selected_in_gtk_4() {
    replaces_what_is_selected(Toolkit::Gtk4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn typing_replaces_what_is_selected_in_qt() {
    replaces_what_is_selected(Toolkit::Qt).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn typing_replaces_what_is_selected_in_a_page() {
    replaces_what_is_selected(Toolkit::Page).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_application_makes_of_a_text_is_reported_and_left_alone() {
    let Some(writing) = Writing::start(Toolkit::Gtk3, Screen::Writing).await else { return };
    for (name, typed, result) in
        [("Upper", "north", "NORTH"), ("Dashes", "a -- b", "a – b"), ("Brackets", "f(x", "f(x)")]
    {
        let report = writing.type_into(Some(name), typed, true).await;
        let value = writing.value(name).await;
        let Evidence::NotSeen { shortfall: Shortfall::ReadsOtherwise { around: Some(around), .. } } =
            &report.actions[0].evidence
        else {
            panic!("{name}: {:?}", report.actions)
        };
        assert_eq!(json!(around.after), value, "{name}: {}", report.summary());
        assert!(name == "Brackets" || value == json!(result), "{name}: {value}");
    }
    seen(&writing.type_into(Some("Notes"), "one\ntwo", false).await);
    assert_eq!(writing.value("Notes").await, json!("one\ntwo"));
    writing.stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn terminals_are_written_blind_and_passwords_are_verified_by_their_length() {
    const SECRET: &str = "hunter2!";
    let Some(writing) = Writing::start(Toolkit::Gtk3, Screen::Writing).await else { return };
    let is_blind = |report: &ActionReport| {
        let evidence = &report.actions[0].evidence;
        assert!(
            matches!(evidence, Evidence::Unknown { uncertainty: Uncertainty::Blind { .. } }),
            "{evidence:?}"
        );
    };
    is_blind(&writing.type_into(Some("Shell"), "first", false).await);
    is_blind(&writing.type_into(Some("Shell"), " line\n", false).await);
    is_blind(&writing.type_into(None, "second\n", false).await);
    assert_eq!(writing.value("Shell").await, json!(["first line", "second"]));
    for clear in [false, true] {
        let report = writing.type_into(Some("Secret"), SECRET, clear).await;
        let evidence = &report.actions[0].evidence;
        assert!(matches!(evidence, Evidence::Seen { proof: ActionProof::HasLength }), "{evidence:?}");
        assert!(!format!("{report:?} {}", report.summary()).contains(SECRET), "{report:?}");
        assert_eq!(writing.value("Secret").await, json!(SECRET));
    }
    writing.stage.desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dates_and_times_of_a_page_are_set_field_by_field() {
    let Some(writing) = Writing::start(Toolkit::Page, Screen::Text).await else { return };
    dates_and_times_are_set(writing).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dates_and_times_of_a_page_in_firefox_are_set_field_by_field() {
    let Some(stage) = Stage::start_in_firefox(Screen::Text).await else { return };
    dates_and_times_are_set(Writing { stage, limits: ActLimits::default() }).await;
}

async fn dates_and_times_are_set(writing: Writing) {
    for (name, value) in [
        ("Day", "2025-10-01"),
        ("Day", "1999-12-31"),
        ("Alarm", "00:05"),
        ("Alarm", "12:30"),
        ("Meeting", "2026-02-03T23:45"),
    ] {
        seen(&writing.set(name, NewValue::Text(value.to_owned())).await);
        assert_eq!(writing.value(name).await, json!(value), "{name}");
    }
    for (name, value) in [
        ("Day", "31.12.2025"),
        ("Day", "08:30"),
        ("Day", "2025-02-31"),
        ("Alarm", "2025-10-01"),
        ("Meeting", "08:30"),
    ] {
        let report = writing.set(name, NewValue::Text(value.to_owned())).await;
        assert_eq!(report.effect(), Verdict::Refused, "{name}: {}", report.summary());
    }
    assert_eq!(writing.value("Day").await, json!("1999-12-31"));
    writing.stage.desktop.shut_down().await;
}

/// The application takes a number over only when its entry is left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_number_that_is_seen_was_taken_over() {
    let Some(writing) = Writing::start(Toolkit::Gtk3, Screen::Writing).await else { return };
    seen(&writing.set("Amount", NewValue::Number(100.0)).await);
    assert_eq!(writing.value("Amount").await, json!(100.0));
    let report = writing.set("Amount", NewValue::Number(51_999.0)).await;
    assert_eq!(report.effect(), Verdict::Refused, "{}", report.summary());
    let report = writing.set("Amount", NewValue::Number(3.4)).await;
    assert_ne!(report.effect(), Verdict::Seen, "{}", report.summary());
    seen(&writing.set("Amount", NewValue::Text("7".to_owned())).await);
    assert_eq!(writing.value("Amount").await, json!(7.0));
    writing.stage.desktop.shut_down().await;
}
