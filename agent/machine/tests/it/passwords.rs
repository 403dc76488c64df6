//! Passwords in clear: the dots that stand for them, where these may be typed, and what is left in the session.

use deskhand_machine::{
    model::ModelReply,
    observation::Observation,
    policy::Policy,
    prompt::PromptSet,
    session::{ApprovalScope, ConcealedTexts, Effect, KeptTexts, Session, SessionConfig, SessionEvent},
};
use deskhand_ui::{Role, WindowView};
use serde_json::{Value, json};

use crate::harness::{Harness, config, element, focused, tool, view, window};

/// The texts behind dots, as a process keeps them.
macro_rules! kept_texts {
    ($kept:expr) => {
        KeptTexts {
            dots_of: &|value| $kept.iter().rev().find(|(_, one)| one == value).map(|(dots, _)| dots.clone()),
            value_of: &|dots| $kept.iter().rev().find(|(one, _)| one == dots).map(|(_, value)| value.clone()),
        }
    };
}

const PASSWORD: &str = "hunter2-\"Zaun\"";

fn settings() -> SessionConfig {
    let mut config = config();
    config.policy = Policy::default();
    config.app_tools.extend(["type_text", "set_value", "press_keys"].map(tool));
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

/// Returns `true` if a text has the password, also as JSON writes it.
fn has_it(text: &str) -> bool {
    text.contains("hunter2")
}

/// Answers as the runtime does: with dots from the reply on.
fn answers(h: &mut Harness, actions: &[Value]) -> usize {
    let found = hides(h, &mut Vec::new(), reply(actions));
    assert!(found.withheld.is_empty());
    assert!(found.passwords.iter().all(|(_, value)| value.contains("hunter2")));
    found.passwords.len()
}

/// Hides what a reply types and applies it; `kept` has the values.
fn hides(h: &mut Harness, kept: &mut Vec<(String, String)>, mut reply: ModelReply) -> ConcealedTexts {
    let found = h.session.conceal(&mut reply, &kept_texts!(kept));
    kept.extend(found.passwords.iter().map(|(password, value)| (password.dots.clone(), value.clone())));
    kept.extend(found.withheld.iter().cloned());
    let passwords: Vec<_> = found.passwords.iter().map(|(password, _)| password.clone()).collect();
    let withheld: Vec<_> = found.withheld.iter().map(|(dots, _)| dots.clone()).collect();
    let is_hidden = !has_it(&reply.text) || (passwords.is_empty() && withheld.is_empty());
    assert!(is_hidden, "{}", reply.text);
    h.answer(SessionEvent::Replied { reply, passwords, withheld });
    found
}

/// Looks as the runtime does: what becomes of withheld texts comes first.
fn looks(h: &mut Harness, kept: &[(String, String)], seen: WindowView) -> Option<SessionEvent> {
    let observation = Observation::Window(seen);
    let disclosed = h.session.disclose(&observation, &kept_texts!(kept)).map(|(event, _)| event);
    disclosed.iter().for_each(|event| h.answer(event.clone()));
    h.answer(SessionEvent::Observed { observation });
    disclosed
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
    h.answer(SessionEvent::Observed { observation: Observation::Window(form("")) });
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
    replays(&h);
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
    h.answer(SessionEvent::Approved { scope: ApprovalScope::Once });
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
    let found = h.session.conceal(&mut reply, &KeptTexts::NONE);
    let passwords: Vec<_> = found.passwords.into_iter().map(|(password, _)| password).collect();
    let count = passwords.len();
    h.answer(SessionEvent::Replied { reply, passwords, withheld: Vec::new() });
    count
}

/// Without a sign that JSON escapes, so that it is the same in every form.
const PLAIN: &str = "hunter2-Zaun";

/// A page before the form: a button, and a field for a name.
fn before() -> WindowView {
    let mut seen = view(window(1, "Window", "App"), "Log in");
    seen.surfaces[0].tree.elements.push(element(9, 1, Role::ENTRY, "Search"));
    seen
}

/// A form in which the name has no label and the password has one.
fn grouped() -> WindowView {
    let mut seen = form("");
    seen.surfaces[0].tree.elements.push(element(5, 1, Role::PANEL, "Credentials"));
    seen.surfaces[0].tree.elements.push(element(6, 2, Role::PASSWORD_TEXT, "PIN"));
    seen
}

/// A call that enters the password.
fn enters(tool: &str, id: &Value) -> Value {
    let mut arguments = match tool {
        "press_keys" => {
            let keys: Vec<String> = PLAIN.chars().map(String::from).collect();
            json!({"keys": keys.join(" ")})
        }
        "set_value" => json!({"value": PLAIN}),
        _ => json!({"text": PLAIN}),
    };
    if !id.is_null() && tool != "press_keys" {
        arguments["id"] = id.clone();
    }
    json!({"function": tool, "arguments": arguments})
}

fn says(actions: &[Value]) -> ModelReply {
    let text = json!({"thought": format!("I type {PLAIN}"), "status": "CONTINUE", "action": actions});
    ModelReply { text: text.to_string(), model: "test".to_owned(), attempts: 1, ..ModelReply::default() }
}

/// Every name that a field for passwords has.
fn names() -> [Value; 8] {
    [
        json!("e2"),
        json!(2),
        json!({"name": "Password"}),
        json!({"role": "password text"}),
        json!({"role": "password text", "name": "Password"}),
        json!({"role": "field", "name": "Password"}),
        json!({"name": "Password", "in": "Window"}),
        Value::Null,
    ]
}

#[test]
fn a_password_is_hidden_however_its_field_is_named() {
    for tool in ["type_text", "set_value", "press_keys"] {
        for id in names() {
            let mut h = Harness::looking(settings(), "Log in", focused(form(""), 2, ""));
            let mut kept = Vec::new();
            let found = hides(&mut h, &mut kept, says(&[enters(tool, &id)]));
            assert_eq!(kept.first().map(|(_, value)| value.as_str()), Some(PLAIN), "{tool} {id}");
            assert_eq!(found.withheld.len(), 0, "{tool} {id}: its field is known");
            nothing_has_it(&h, &format!("{tool} {id}"));
        }
    }
}

#[test]
fn a_password_for_a_field_in_a_group_goes_to_that_field() {
    let mut h = Harness::looking(settings(), &format!("Log in with {PLAIN}"), grouped());
    hides(&mut h, &mut Vec::new(), says(&[enters("type_text", &json!({"name": "Credentials"}))]));
    let Effect::Call { command } = h.effect() else { panic!("{:?}", h.effect()) };
    assert_eq!((&command.arguments["text"], &command.arguments["id"]), (&json!("••••••••1"), &json!("e6")));
}

#[test]
fn a_password_for_a_field_that_opens_later_is_hidden_before_it_is_there() {
    let opens = json!({"function": "click_element", "arguments": {"id": "e3"}});
    for tool in ["type_text", "set_value", "press_keys"] {
        // An id that exists already means what it meant.
        for id in names().into_iter().filter(|id| id.is_object() || (id.is_null() && tool != "set_value")) {
            let mut h = Harness::looking(settings(), "Log in", before());
            let mut kept = Vec::new();
            let found = hides(&mut h, &mut kept, says(&[opens.clone(), enters(tool, &id)]));
            assert_eq!(found.withheld.len(), 1, "{tool} {id}");
            let what = format!("{tool} {id}");
            nothing_has_it(&h, &what);
            h.succeeds(None, Value::Null);
            let told = looks(&mut h, &kept, focused(form(""), 2, ""));
            let Some(SessionEvent::Disclosed { texts, passwords }) = told else { panic!("{what}: {told:?}") };
            assert!(texts.is_empty() && passwords.len() == 1, "{what}");
            nothing_has_it(&h, &what);
            if tool != "press_keys" {
                let Effect::AwaitApproval { approval } = h.effect() else { panic!("{:?}", h.effect()) };
                assert_eq!(approval.commands[0].arguments["id"], "e2", "{what}");
            }
            replays(&h);
        }
    }
}

#[test]
fn a_text_that_was_withheld_and_is_no_password_is_judged_and_typed_in_clear() {
    let opens = json!({"function": "click_element", "arguments": {"id": "e3"}});
    for id in [json!({"name": "User"}), Value::Null] {
        let mut h = Harness::looking(settings(), "Log in", before());
        let mut kept = Vec::new();
        let found = hides(&mut h, &mut kept, says(&[opens.clone(), enters("type_text", &id)]));
        assert_eq!(found.withheld.len(), 1, "{id}");
        h.succeeds(None, Value::Null);
        let told = looks(&mut h, &kept, focused(form(""), 3, ""));
        assert!(
            matches!(&told, Some(SessionEvent::Disclosed { texts, .. }) if texts[0].text == PLAIN),
            "{id}"
        );
        let Effect::Call { command } = h.effect() else { panic!("{:?}", h.effect()) };
        assert_eq!(command.arguments["text"], PLAIN, "{id}");
        replays(&h);
    }
}

#[test]
fn keys_that_were_withheld_and_go_elsewhere_are_pressed_as_they_were_written() {
    let opens = json!({"function": "click_element", "arguments": {"id": "e3"}});
    let keys = json!({"function": "press_keys", "arguments": {"keys": "a b shift+c"}});
    let mut h = Harness::looking(settings(), "Log in", before());
    let mut kept = Vec::new();
    let text = json!({"thought": "I press keys", "status": "CONTINUE", "action": [opens, keys]}).to_string();
    let reply = ModelReply { text, ..reply(&[]) };
    assert_eq!(hides(&mut h, &mut kept, reply).withheld.len(), 1);
    h.succeeds(None, Value::Null);
    looks(&mut h, &kept, focused(before(), 9, ""));
    let Effect::Call { command } = h.effect() else { panic!("{:?}", h.effect()) };
    assert_eq!(command.arguments["keys"], "a b shift+c");
}

#[test]
fn a_tab_leads_to_a_field_that_is_seen_first() {
    let tab = json!({"function": "press_keys", "arguments": {"keys": "Tab"}});
    let user = json!({"function": "type_text", "arguments": {"id": "e3", "text": "ada"}});
    let user_and_tab = json!({"function": "type_text", "arguments": {"id": "e3", "text": "ada\t"}});
    let text = json!({"function": "type_text", "arguments": {"text": format!("{PLAIN}\n")}});
    for actions in [vec![user, tab, text.clone()], vec![user_and_tab, text]] {
        let mut h = Harness::looking(settings(), &format!("Log in with {PLAIN}"), focused(form(""), 3, ""));
        let mut kept = Vec::new();
        hides(&mut h, &mut kept, says(&actions));
        while let Effect::Call { .. } = h.effect() {
            h.succeeds(None, Value::Null);
        }
        let told = looks(&mut h, &kept, focused(form(""), 2, ""));
        assert!(
            matches!(&told, Some(SessionEvent::Disclosed { passwords, .. }) if passwords.len() == 1),
            "{told:?}"
        );
        let Effect::Call { command } = h.effect() else { panic!("{:?}", h.effect()) };
        assert_eq!(command.arguments["text"], "••••••••1\n");
        assert_eq!(command.arguments["id"], "e2");
        replays(&h);
    }
}

#[test]
fn a_password_behind_a_tab_in_the_same_text_is_hidden_and_asked_for_alone() {
    let text = json!({"function": "type_text", "arguments": {"id": "e3", "text": format!("ada\t{PLAIN}\n")}});
    let mut h = Harness::looking(settings(), "Log in", form(""));
    let mut kept = Vec::new();
    hides(&mut h, &mut kept, says(&[text]));
    nothing_has_it(&h, "a tab in a text");
    let refused = &h.session.next().unwrap().refused;
    assert!(refused[0].result.summary().contains("its field is not known"), "{refused:?}");
    // By its dots, it is typed where it belongs, and elsewhere it is a text like others.
    h.answer(SessionEvent::Observed { observation: Observation::Window(form("")) });
    let again = |id: &str| json!({"function": "type_text", "arguments": {"id": id, "text": "••••••••1"}});
    let mut other = h.clone();
    let found = hides(&mut h, &mut kept.clone(), says(&[again("e2")]));
    assert_eq!(found.passwords.len(), 1);
    nothing_has_it(&h, "again");
    hides(
        &mut other,
        &mut kept,
        ModelReply { text: says(&[again("e3")]).text.replace(PLAIN, "it"), ..says(&[]) },
    );
    let Effect::Call { command } = other.effect() else { panic!("{:?}", other.effect()) };
    assert_eq!(command.arguments["text"], PLAIN);
}

#[test]
fn a_password_for_a_field_that_is_not_there_is_hidden() {
    let invalid = |text: &str| ModelReply { text: text.to_owned(), ..says(&[]) };
    let replies = [
        says(&[enters("type_text", &json!({"name": "Passwort"}))]),
        says(&[enters("type_text", &json!("e77"))]),
        says(&[enters("type_text", &json!("the password"))]),
        invalid(
            &json!({"status": "FAIL", "thought": "no", "action": [enters("type_text", &json!("e2"))]})
                .to_string(),
        ),
        invalid(
            &json!({"status": "??", "action": [enters("type_text", &json!({"name": "Password"}))]})
                .to_string(),
        ),
        invalid(&format!(
            "Well: ```json\n{}\n```",
            says(&[enters("set_value", &json!({"name": "Password"}))]).text
        )),
    ];
    for reply in replies {
        let what = reply.text.clone();
        let mut h = Harness::looking(settings(), "Log in", form(""));
        hides(&mut h, &mut Vec::new(), reply);
        nothing_has_it(&h, &what);
    }
}

#[test]
fn what_certainly_goes_elsewhere_is_not_withheld() {
    let opens = json!({"function": "click_element", "arguments": {"id": "e3"}});
    let field = json!({"function": "type_text", "arguments": {"id": {"role": "entry", "name": "User"}, "text": PLAIN}});
    let lines = json!({"function": "type_text", "arguments": {"id": {"name": "Search"}, "text": "a\nb"}});
    for (seen, actions) in [
        (before(), vec![opens.clone(), field]),
        (before(), vec![enters("type_text", &json!("e9"))]),
        (
            before(),
            vec![json!({"function": "type_text", "arguments": {"id": "e9", "text": format!("a\t{PLAIN}")}})],
        ),
        (focused(before(), 9, ""), vec![enters("type_text", &Value::Null)]),
        (focused(before(), 9, ""), vec![lines]),
    ] {
        let mut h = Harness::looking(settings(), "Log in", seen);
        let mut reply = says(&actions);
        let found = h.session.conceal(&mut reply, &KeptTexts::NONE);
        let hidden: Vec<&str> = found.withheld.iter().map(|(_, text)| text.as_str()).collect();
        assert!(found.passwords.is_empty() && !hidden.contains(&PLAIN), "{actions:?}: {hidden:?}");
        h.answer(SessionEvent::replied(reply));
    }
}

/// Nothing of a session, nor of what it wants, has the password.
#[track_caller]
fn nothing_has_it(h: &Harness, what: &str) {
    let all = serde_json::to_string(&(&h.session, &h.session.next())).unwrap();
    assert!(!has_it(&all), "{what}: {all}");
    let events: Vec<_> = h.history.iter().map(|(_, event)| event).collect();
    assert!(!has_it(&serde_json::to_string(&events).unwrap()), "{what}");
}

/// A replay wants the same, byte for byte, without knowing the password.
#[track_caller]
fn replays(h: &Harness) {
    let mut again = Session::new(settings(), PromptSet::default());
    for (wanted, event) in &h.history {
        assert_eq!(serde_json::to_string(&again.next()).unwrap(), *wanted);
        again.apply(event).unwrap();
    }
}
