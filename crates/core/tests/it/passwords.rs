//! Passwords in clear: the dots that stand for them, where these may be typed, and what is left in the session.

use deskhand_core::{
    model::ModelReply,
    observation::{Observation, WindowView},
    policy::Policy,
    prompt::PromptSet,
    session::{ApprovalScope, Effect, Event, Session, SessionConfig},
    ui::Role,
};
use serde_json::{Value, json};

use crate::harness::{Harness, config, element, focused, tool, view, window};

const PASSWORD: &str = "hunter2-\"Zaun\"";

fn settings() -> SessionConfig {
    let mut config = config();
    config.policy = Policy::default();
    config.app_tools.extend(["type_text", "set_value"].map(tool));
    config
}

fn form(label: &str) -> WindowView {
    let mut seen = view(window(1, "Window", "App"), "");
    let tree = &mut seen.surfaces[0].tree;
    tree.elements.truncate(1);
    tree.elements.push(element(2, 1, Role::PASSWORD_TEXT, "Password"));
    tree.elements.push(element(3, 1, Role::ENTRY, "User"));
    tree.elements.push(element(4, 1, Role::LABEL, label));
    seen
}

fn types(id: Option<&str>, text: &str) -> Value {
    match id {
        Some(id) => json!({"function": "type_text", "arguments": {"id": id, "text": text}}),
        None => json!({"function": "type_text", "arguments": {"text": text}}),
    }
}

fn reply(actions: &[Value]) -> ModelReply {
    let text = json!({"thought": format!("I type {PASSWORD}"), "status": "CONTINUE", "action": actions});
    ModelReply { text: text.to_string(), model: "test".to_owned(), attempts: 1, ..ModelReply::default() }
}

/// Whether a text has the password, also as JSON writes it.
fn has_it(text: &str) -> bool {
    text.contains("hunter2")
}

/// Answers as the runtime does: with dots from the reply on.
fn answers(h: &mut Harness, actions: &[Value]) -> usize {
    let mut reply = reply(actions);
    let found = h.session.conceal(&mut reply, &|_| None);
    assert!(found.iter().all(|(_, value)| value.contains("hunter2")), "{}", found.len());
    let passwords: Vec<_> = found.into_iter().map(|(password, _)| password).collect();
    let count = passwords.len();
    assert!(count == 0 || !has_it(&reply.text), "{}", reply.text);
    h.answer(Event::Replied { reply, passwords });
    count
}

#[test]
fn dots_stand_for_a_password_from_the_reply_on() {
    let request = format!("Log in with {PASSWORD}");
    let mut h = Harness::looking(settings(), &request, form(""));
    assert!(has_it(&serde_json::to_string(&h.effect()).unwrap()), "the first prompt has the request");
    assert_eq!(answers(&mut h, &[types(Some("e2"), PASSWORD), types(Some("e3"), "ada")]), 1);
    // The user has said it, so nobody is asked.
    let Effect::Call { command } = h.effect() else { panic!("{:?}", h.effect()) };
    assert_eq!(command.arguments["text"], "••••••••1");
    assert!(!has_it(&serde_json::to_string(&h.session).unwrap()), "nothing of the session has it");
    h.succeeds(None, Value::Null);
    h.succeeds(None, Value::Null);
    h.answer(Event::Observed { observation: Observation::Window(form("")) });
    let prompt = serde_json::to_string(&h.effect()).unwrap();
    assert!(!has_it(&prompt) && prompt.contains("Log in with ••••••••1"), "{prompt}");
    // It may be typed again there, and nowhere else.
    h.reply(
        &json!({"thought": "t", "status": "CONTINUE", "action": [types(Some("e3"), "••••••••1")]})
            .to_string(),
    );
    let Effect::Observe { .. } = h.effect() else { panic!("{:?}", h.effect()) };
    let refused = &h.session.next().unwrap().refused;
    assert!(refused[0].result.summary().contains("fields for passwords of app"), "{refused:?}");
    // A replay wants the same, byte for byte, without knowing the password.
    let mut again = Session::new(settings(), PromptSet::default());
    for (wanted, event) in &h.history {
        assert_eq!(serde_json::to_string(&again.next()).unwrap(), *wanted);
        again.apply(event).unwrap();
    }
}

#[test]
fn a_password_that_nobody_said_is_asked_about_by_its_dots() {
    let mut h = Harness::looking(settings(), "Log in", focused(form(""), 2, ""));
    // Without an id it goes where the keyboard is.
    assert_eq!(answers(&mut h, &[types(None, &format!("{PASSWORD}\n"))]), 1);
    let Effect::AwaitApproval { approval } = h.effect() else { panic!("{:?}", h.effect()) };
    let asked = serde_json::to_string(&approval).unwrap();
    assert!(!has_it(&asked) && asked.contains("no text at hand"), "{asked}");
    assert_eq!(approval.commands[0].arguments["text"], "••••••••1\n");
    assert_eq!(approval.commands[0].arguments["id"], "e2", "the field that was judged");
    h.answer(Event::Approved { scope: ApprovalScope::Once });
    assert!(matches!(h.effect(), Effect::Call { .. }));
}

#[test]
fn what_the_screen_shows_is_hidden_in_its_field_alone() {
    let request = format!("Open the notes of {PASSWORD} and log in with {PASSWORD}");
    let mut h = Harness::looking(settings(), &request, form(&format!("Notes of {PASSWORD}")));
    assert_eq!(answers_partly(&mut h), 1);
    let Effect::Call { command } = h.effect() else { panic!("{:?}", h.effect()) };
    assert_eq!(command.arguments["text"], "••••••••1");
    assert!(has_it(&serde_json::to_string(&h.session).unwrap()), "the file keeps its name");
}

fn answers_partly(h: &mut Harness) -> usize {
    let mut reply = reply(&[types(Some("e2"), PASSWORD)]);
    let found = h.session.conceal(&mut reply, &|_| None);
    let passwords: Vec<_> = found.into_iter().map(|(password, _)| password).collect();
    let count = passwords.len();
    h.answer(Event::Replied { reply, passwords });
    count
}
