//! The safe guard: what it asks about, and what it does not.

use deskhand_machine::{
    observation::Observation,
    session::{Effect, SessionEvent},
};
use deskhand_ui::{Role, State, Surface, Tree, WindowKind, WindowView, ids::WindowId};
use serde_json::{Value, json};

use crate::harness::{Harness, config, element, tool, view, window};

/// What the guard says to a reply of an AppAgent that sees this; `None` if it asks nothing.
fn asked_in(seen: WindowView, action: &Value) -> Option<String> {
    let mut config = config();
    config.app_tools.extend(["press_keys", "type_text", "drag", "visit"].map(tool));
    let mut h = Harness::started(config);
    h.assign();
    h.answer(SessionEvent::Observed { observation: Observation::Window(seen) });
    h.reply(&json!({"thought": "t", "status": "CONTINUE", "action": action}).to_string());
    if let Effect::AwaitApproval { approval, .. } = h.effect() {
        return Some(approval.reason);
    }
    h.command();
    None
}

fn click(id: &str) -> Value {
    json!([{"function": "click_element", "arguments": {"id": id}}])
}

/// A window with these elements in it, from e2 on.
fn showing(elements: &[(Role, &str)]) -> WindowView {
    let mut seen = view(window(1, "Untitled 1 - Writer", "Writer"), "");
    let tree = &mut seen.surfaces[0].tree;
    tree.elements.truncate(1);
    for (id, (role, name)) in (2..).zip(elements) {
        let mut element = element(id, 1, role.clone(), name);
        if [Role::ENTRY, Role::TERMINAL].contains(role) {
            element.states = element.states.with(State::Editable).with(State::Focused);
        }
        tree.elements.push(element);
    }
    seen
}

/// The same in a dialog of the window: e10 is its text.
fn dialog(text: &str, button: &str) -> WindowView {
    let mut seen = showing(&[]);
    let mut info = window(5, "Question", "Writer");
    (info.kind, info.owner) = (WindowKind::Dialog, Some(WindowId(1)));
    let elements = vec![
        element(9, 0, Role::DIALOG, "Question"),
        element(10, 1, Role::LABEL, text),
        element(11, 1, Role::PUSH_BUTTON, button),
    ];
    seen.surfaces.push(Surface { window: info, tree: Tree { elements, partial: None } });
    seen
}

#[test]
fn labels_are_known_in_the_languages_of_desktops() {
    let asks = |label: &str| asked_in(showing(&[(Role::PUSH_BUTTON, label)]), &click("e2"));
    for (label, why) in [
        ("Löschen", "it deletes data"),
        ("_Endgültig löschen…", "it deletes data"),
        ("Vider la corbeille", "it deletes data"),
        ("削除", "it deletes data"),
        ("Удалить навсегда", "it deletes data"),
        ("Nicht speichern", "unsaved changes would be lost"),
        ("Ne pas enregistrer", "unsaved changes would be lost"),
        ("不保存", "unsaved changes would be lost"),
        ("Sobrescribir", "it may overwrite data"),
        ("Zahlungspflichtig bestellen", "it sends something to others and cannot be taken back"),
        ("Kup teraz", "it sends something to others and cannot be taken back"),
        ("로그아웃", "it ends the computer's session"),
    ] {
        assert_eq!(asks(label), Some(format!("safe guard: {why}")), "{label}");
    }
    for label in ["Speichern", "Zeile löschen", "Annuler", "保存", "Fertig", "Next", "Suchen", "Kapat", ""]
    {
        assert_eq!(asks(label), None, "{label}");
    }
}

#[test]
fn a_button_is_judged_by_the_question_of_its_dialog() {
    let asks = |text: &str, button: &str| {
        let reason = asked_in(dialog(text, button), &click("e11"))?;
        assert!(reason.contains(&format!("the dialog says “{text}”")), "{reason}");
        Some(reason.split(';').next().unwrap().replace("safe guard: ", ""))
    };
    let (deletes, lost) =
        (Some("it deletes data".to_owned()), Some("unsaved changes would be lost".to_owned()));
    let replaces = Some("it may overwrite data".to_owned());
    let delete = "Are you sure you want to delete “notes.txt”?";
    for button in ["Yes", "OK", "Continue", "Go ahead", ""] {
        assert_eq!(asks(delete, button), deletes, "{button}");
    }
    for button in ["No", "Cancel", "Keep Files", "Close", "Help"] {
        assert_eq!(asks(delete, button), None, "{button}");
    }
    assert_eq!(asks("Möchten Sie 3 Dateien unwiderruflich entfernen?", "Ja"), deletes);
    assert_eq!(asks("Möchten Sie 3 Dateien unwiderruflich entfernen?", "Nein"), None);
    assert_eq!(asks("ファイルを完全に削除しますか?", "はい"), deletes);
    assert_eq!(asks("A file with this name already exists here.", "Yes"), replaces);
    // What declines to save loses changes, what agrees does not.
    let save = "Do you want to save the changes to report.odt?";
    assert_eq!(asks(save, "No"), lost);
    assert_eq!(asks(save, "Yes"), None);
    assert_eq!(asks("All unsaved changes will be lost.", "Close"), lost);
    assert_eq!(asks("All unsaved changes will be lost if you go on.", "Cancel"), None);
    // What does not ask, asks nobody.
    assert_eq!(
        asks(
            "This document may contain formatting that cannot be saved in this format.",
            "Keep Current Format!"
        ),
        None
    );
    assert_eq!(asks("The table was sorted.", "OK"), None);
}

#[test]
fn return_in_a_dialog_presses_its_button() {
    let keys = json!([{"function": "press_keys", "arguments": {"keys": "Return"}}]);
    let with_field = |text: &str| {
        let mut seen = dialog(text, "OK");
        let mut field = element(12, 1, Role::ENTRY, "Name");
        field.states = field.states.with(State::Editable).with(State::Focused);
        seen.surfaces[1].tree.elements.push(field);
        seen
    };
    let typed = json!([{"function": "type_text", "arguments": {"id": "e12", "text": "account\n"}}]);
    let question = "Type the name of the account to delete it.";
    assert!(asked_in(with_field(question), &keys).unwrap().contains("it deletes data"));
    assert!(asked_in(with_field(question), &typed).unwrap().contains("it deletes data"));
    assert_eq!(asked_in(with_field("New name"), &keys), None);
    // A form is no question, whatever its labels are.
    let mut form = with_field("Delete files older than (days)");
    let mut other = element(13, 1, Role::ENTRY, "Days");
    other.states = other.states.with(State::Editable);
    form.surfaces[1].tree.elements.push(other);
    assert_eq!(asked_in(form, &click("e11")), None);
}

#[test]
fn a_dialog_within_a_page_asks_too() {
    let mut seen = showing(&[]);
    seen.surfaces[0].tree.elements.extend([
        element(2, 1, Role::DIALOG, "Please confirm"),
        element(3, 2, Role::PARAGRAPH, "Your account will be permanently removed."),
        element(4, 2, Role::PUSH_BUTTON, "Continue"),
        element(5, 1, Role::PUSH_BUTTON, "Continue"),
    ]);
    assert!(asked_in(seen.clone(), &click("e4")).unwrap().contains("it deletes data"));
    assert_eq!(asked_in(seen, &click("e5")), None, "it stands outside of the dialog");
}

/// A page names its button as it likes.
#[test]
fn a_button_beside_fields_for_a_payment_asks_whatever_its_name_is() {
    let shop = |button: &str| showing(&[(Role::ENTRY, "Card number"), (Role::PUSH_BUTTON, button)]);
    let why = "safe guard: it is pressed beside fields for a payment (“Card number”)";
    assert_eq!(asked_in(shop("Next"), &click("e3")).as_deref(), Some(why));
    assert_eq!(asked_in(shop("Cancel"), &click("e3")), None);
    assert_eq!(asked_in(shop("Next"), &click("e2")), None, "a click into the field");
    let typed = |text: &str| json!([{"function": "type_text", "arguments": {"id": "e2", "text": text}}]);
    assert_eq!(asked_in(shop("Next"), &typed("4111")), None);
    assert_eq!(asked_in(shop("Next"), &typed("4111\n")).as_deref(), Some(why));
}

#[test]
fn a_line_in_a_terminal_runs_a_program() {
    let seen = || showing(&[(Role::TERMINAL, "Terminal")]);
    let typed = |text: &str| json!([{"function": "type_text", "arguments": {"text": text}}]);
    let why = Some("safe guard: it runs a command in a terminal".to_owned());
    assert_eq!(asked_in(seen(), &typed("rm -rf /\n")), why);
    assert_eq!(asked_in(seen(), &json!([{"function": "press_keys", "arguments": {"keys": "Return"}}])), why);
    assert_eq!(asked_in(seen(), &typed("ls")), None);
}

#[test]
fn what_is_dropped_on_the_trash_is_deleted() {
    let onto = |name: &str| {
        let seen = showing(&[(Role::ICON, "report.odt"), (Role::ICON, name)]);
        asked_in(seen, &json!([{"function": "drag", "arguments": {"from": "e2", "to": "e3"}}]))
    };
    for name in ["Trash", "Papierkorb", "Corbeille", "ゴミ箱"] {
        assert_eq!(onto(name).as_deref(), Some("safe guard: it is dropped where data is deleted"), "{name}");
    }
    assert_eq!(onto("Documents"), None);
}
