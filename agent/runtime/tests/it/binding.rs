//! An action goes to what it was judged on, or nowhere: something is renamed, replaced, moved or covered after it was
//! judged and before it runs.

use std::path::Path;

use deskhand_desktop_fake::{Behaviour, FakeApp, FakeDesktop, FakeElement, FakeWindow};
use deskhand_machine::{
    command::CallStatus,
    policy::{PathRoots, Policy, PolicyDecision, PolicyRule},
    record::{JournalEntry, JournalRecord},
    session::{Effect, SessionEvent},
};
use deskhand_runtime::{
    StopSwitch,
    people::{Approvals, People},
};
use deskhand_ui::{Role, action::Verdict, geometry::Rect};

use serde_json::json;

use crate::support::{Ran, config, results, run_people, script};

fn says(text: &str) -> Behaviour {
    Behaviour::SetText { key: "said".to_owned(), text: text.to_owned() }
}

/// A window with the button that the tests click.
fn desktop() -> FakeDesktop {
    let next = FakeElement::new(Role::PUSH_BUTTON, "Next")
        .key("next")
        .at(20, 100, 120, 30)
        .on_click(says("went on"));
    let said = FakeElement::new(Role::LABEL, "").key("said").text("nothing yet").at(20, 200, 300, 20);
    let entry = FakeElement::new(Role::ENTRY, "Comment").key("entry").at(20, 300, 300, 30);
    let window = FakeWindow::normal("Wizard").elements([next, said, entry]);
    FakeDesktop::new([FakeApp::new("Wizard", "wizard", [window])], [])
}

/// A model that assigns the window and proposes these actions once.
fn proposing(actions: &str) -> String {
    format!(
        r#"
[[turn]]
agent = "HostAgent"
reply = '{{"thought": "t", "status": "ASSIGN", "current_subtask": "go on", "control_label": "{{{{window "Wizard"}}}}"}}'

[[turn]]
agent = "AppAgent"
reply = '{{"thought": "t", "status": "CONTINUE", "action": [{actions}]}}'

[[turn]]
agent = "AppAgent"
reply = '{{"thought": "t", "status": "FAIL", "result": "that is all"}}'

[[turn]]
agent = "HostAgent"
reply = '{{"thought": "t", "status": "FINISH", "result": "done"}}'
"#
    )
}

const CLICK: &str =
    r#"{"function": "click_element", "arguments": {"id": "{{element "push button" "Next"}}"}}"#;

/// Runs a session in which `fault` happens when the command is on its way, after it was judged and approved.
async fn runs(actions: &str, policy: Policy, fault: impl Fn(&FakeDesktop) + Send + Sync) -> Ran {
    let model = script(&proposing(actions));
    let config = deskhand_machine::session::SessionConfig { policy, ..config() };
    let people = People { approvals: Approvals::All, ..People::nobody() };
    let watch = |line: &JournalEntry, desktop: &FakeDesktop| {
        if let JournalRecord::Effect(record) = &line.record
            && let Effect::Call { command } = &record.effect
            && command.window.is_some()
        {
            fault(desktop);
        }
    };
    run_people(&model, config, desktop(), &StopSwitch::new(), people, watch).await
}

/// Returns `true` if anything was pressed, by the word of the application: every button changes the text of the label.
fn pressed(ran: &Ran) -> bool {
    ran.desktop.truth().iter().any(|truth| truth.what == "text")
}

/// The result of the action in the window, which was refused.
fn refused(ran: &Ran) -> String {
    let result = results(&ran.lines).last().unwrap();
    assert_eq!(
        (result.status, result.effect),
        (CallStatus::Failure, Some(Verdict::Refused)),
        "{}",
        result.summary()
    );
    assert!(!pressed(ran), "{:?}", ran.desktop.truth());
    result.summary()
}

fn rename(name: &str) -> Behaviour {
    Behaviour::Rename { key: None, name: name.to_owned() }
}

#[tokio::test]
async fn without_a_fault_it_runs() {
    let ran = runs(CLICK, Policy::default(), |_| ()).await;
    let result = results(&ran.lines).last().unwrap();
    assert_eq!(result.effect, Some(Verdict::Seen), "{}", result.summary());
}

#[tokio::test]
async fn a_button_renamed_after_it_was_approved_is_not_pressed() {
    let asks = PolicyRule { label: "Next".to_owned(), ..PolicyRule::new(PolicyDecision::Ask, "look at it") };
    let policy = Policy { rules: vec![asks], ..Policy::default() };
    let ran = runs(CLICK, policy, |desktop| desktop.happens("next", &rename("Delete all my files"))).await;
    let approved = |line: &&JournalEntry| matches!(&line.record, JournalRecord::Event(record) if matches!(record.event, SessionEvent::Approved { .. }));
    assert_eq!(ran.lines.iter().filter(approved).count(), 1);
    let summary = refused(&ran);
    assert!(summary.contains("Next") && summary.contains("Delete all my files"), "{summary}");
}

#[tokio::test]
async fn a_name_of_20_megabytes_makes_short_records() {
    const LINE_BYTES_MAX: usize = 100_000;
    let name = "x".repeat(20_000_000);
    let ran = runs(CLICK, Policy::default(), |desktop| {
        for key in ["said", "entry"] {
            desktop.happens(key, &rename(&name));
        }
    })
    .await;
    let journal = std::fs::read_to_string(ran.end.folder.journal_path()).unwrap();
    let longest = journal.lines().map(str::len).max().unwrap();
    assert!(longest < LINE_BYTES_MAX, "{longest}");
    assert!(journal.contains("xxx…"), "a cut is marked");
}

#[tokio::test]
async fn a_button_that_another_one_replaced_is_not_pressed() {
    let ran = runs(CLICK, Policy::default(), |desktop| {
        desktop.happens("next", &Behaviour::Remove { key: None });
        let other =
            FakeElement::new(Role::PUSH_BUTTON, "Pay now").at(20, 100, 120, 30).on_click(says("paid"));
        desktop.happens("said", &Behaviour::Add(Box::new(other)));
    })
    .await;
    refused(&ran);
}

#[tokio::test]
async fn a_dialog_that_covers_it_is_not_pressed_instead() {
    let ran = runs(CLICK, Policy::default(), |desktop| {
        let window = desktop.find_window("Wizard").unwrap();
        let yes =
            FakeElement::new(Role::PUSH_BUTTON, "Yes, delete").at(20, 100, 120, 30).on_click(says("deleted"));
        let said = FakeElement::new(Role::LABEL, "").key("said");
        let dialog = FakeWindow::dialog("Delete?").at(0, 0, 800, 600).elements([yes, said]);
        desktop.open(window, &dialog);
    })
    .await;
    refused(&ran);
}

#[tokio::test]
async fn an_item_chosen_by_name_is_judged_by_what_is_there() {
    let denies = PolicyRule { label: "Delete*".to_owned(), ..PolicyRule::new(PolicyDecision::Deny, "never") };
    let policy = Policy { rules: vec![denies], safe_guard: false, ..Policy::default() };
    // The place was judged as "Next".
    let place = r#"{"function": "click_on_coordinates", "arguments": {"x": 0.05, "y": 0.13}}"#;
    let ran = runs(place, policy, |desktop| desktop.happens("next", &rename("Delete it"))).await;
    let result = results(&ran.lines).last().unwrap();
    assert_ne!(result.effect, Some(Verdict::Seen), "{}", result.summary());
    assert!(!pressed(&ran), "{:?}", ran.desktop.truth());
}

#[tokio::test]
async fn a_line_break_does_not_press_what_took_the_focus_meanwhile() {
    let denies = PolicyRule { label: "Delete*".to_owned(), ..PolicyRule::new(PolicyDecision::Deny, "never") };
    let policy = Policy { rules: vec![denies], safe_guard: false, ..Policy::default() };
    let keys = r#"{"function": "press_keys", "arguments": {"keys": "Return"}}"#;
    let ran = runs(keys, policy, |desktop| {
        let window = desktop.find_window("Wizard").unwrap();
        let delete = FakeElement::new(Role::PUSH_BUTTON, "Delete").key("delete").on_click(says("deleted"));
        let said = FakeElement::new(Role::LABEL, "").key("said");
        let dialog = FakeWindow::dialog("Sure?").elements([delete, said]).focus("delete");
        desktop.open(window, &dialog);
    })
    .await;
    let summary = refused(&ran);
    assert!(summary.contains("Delete") && summary.contains("denies"), "{summary}");
}

#[tokio::test]
async fn each_place_and_time_of_a_move_is_refused_or_hits_the_button() {
    for x in (0..400).step_by(25) {
        let to = Rect::new(20 + x, 100, 120, 30);
        let ran = runs(CLICK, Policy::default(), |desktop| desktop.move_element("next", to)).await;
        let result = results(&ran.lines).last().unwrap();
        assert_eq!(pressed(&ran), result.effect == Some(Verdict::Seen), "moved by {x}: {}", result.summary());
    }
}

/// Types a path that leads elsewhere by a link made after it was judged.
async fn types_link(policy: Policy, home: &Path, link: &Path, to: &Path) -> Ran {
    let arguments = json!({"id": r#"{{element "entry" "Comment"}}"#, "text": link.to_string_lossy()});
    let action = json!({"function": "type_text", "arguments": arguments}).to_string();
    let model = script(&proposing(&action.replace(r#"\""#, r#"""#)));
    let places = PathRoots { home: home.to_string_lossy().into_owned(), ..PathRoots::default() };
    let config = deskhand_machine::session::SessionConfig { policy, places, ..config() };
    let people = People { approvals: Approvals::All, ..People::nobody() };
    let watch = |line: &JournalEntry, _: &FakeDesktop| {
        if let JournalRecord::Effect(record) = &line.record
            && let Effect::Call { command } = &record.effect
            && command.window.is_some()
        {
            std::os::unix::fs::symlink(to, link).unwrap();
        }
    };
    run_people(&model, config, desktop(), &StopSwitch::new(), people, watch).await
}

#[tokio::test]
async fn a_path_is_judged_by_the_file_that_it_leads_to() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let (home, secret) = (folder.join("home"), folder.join("secret"));
    std::fs::create_dir_all(&home).unwrap();
    std::fs::create_dir_all(&secret).unwrap();
    let denies = PolicyRule {
        path: format!("{}/*", secret.display()),
        ..PolicyRule::new(PolicyDecision::Deny, "private")
    };
    let denied = Policy { rules: vec![denies], ..Policy::default() };
    // A file that is not there yet, behind a folder that is a link.
    let ran = types_link(denied, &home, &folder.join("a"), &secret.join("key")).await;
    let why = refused(&ran);
    assert!(why.contains("which the policy denies (private)") && why.contains("/secret/key"), "{why}");
    // The guard knows the file, not the link.
    let ran = types_link(Policy::default(), &home, &folder.join("b"), &home.join(".bashrc")).await;
    let why = refused(&ran);
    assert!(why.contains("is run, or read by what runs") && why.contains("name that file itself"), "{why}");
    let ran = types_link(Policy::default(), &home, &folder.join("c"), &home.join("notes.txt")).await;
    assert_ne!(results(&ran.lines).last().unwrap().effect, Some(Verdict::Refused));
}
