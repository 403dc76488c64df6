//! Questions of the safe guard about what an action amounts to: labels by how they look, what fields hold when a message is sent, files that are
//! run, and what keys amount to.

use deskhand_machine::{
    command::{CallResult, CallStatus},
    observation::Observation,
    policy::{PathRoots, Policy, PolicyDecision, PolicyRule, SafeGuardLabels},
    session::{ApprovalScope, Effect, SessionConfig, SessionEvent},
};
use deskhand_ui::{
    DocumentInfo, Role, State, Surface, Tree, WindowKind, WindowView,
    action::{ActionKind, ActionOutcome, ActionProof, Aim, CallReport, Evidence, Verdict},
    geometry::Rect,
    ids::WindowId,
};
use serde_json::{Value, json};

use crate::harness::{Harness, config, element, focused, tool, view, window};

fn with(policy: Policy) -> SessionConfig {
    let mut config = config();
    config.policy = policy;
    config.places =
        PathRoots { home: "/home/ada".to_owned(), folder: "/work".to_owned(), ..PathRoots::default() };
    let tools = [
        "press_keys",
        "type_text",
        "paste_text",
        "write_clipboard",
        "drag",
        "visit",
        "save_as",
        "save",
        "set_value",
        "click_on_coordinates",
    ];
    config.app_tools.extend(tools.map(tool));
    config
}

fn acting(request: &str, seen: WindowView, policy: Policy, actions: &Value) -> Harness {
    Harness::acting(with(policy), request, seen, actions)
}

/// What a person is asked; `None` if nobody is.
fn asked_for(request: &str, seen: WindowView, actions: &Value) -> Option<String> {
    acting(request, seen, Policy::default(), actions).guarded()
}

fn asked(seen: WindowView, actions: &Value) -> Option<String> {
    asked_for("Do it", seen, actions)
}

/// A window of an application with these elements in it, from e2 on.
fn showing(application: &str, elements: &[(u16, Role, &str)]) -> WindowView {
    let mut seen = view(window(1, "Window", application), "");
    let tree = &mut seen.surfaces[0].tree;
    tree.elements.truncate(1);
    for (id, (depth, role, name)) in (2..).zip(elements) {
        tree.elements.push(element(id, *depth, role.clone(), name));
    }
    seen
}

fn document(path: &str) -> DocumentInfo {
    DocumentInfo { name: "a".to_owned(), path: Some(path.to_owned()), modified: Some(true) }
}

fn button(name: &str) -> WindowView {
    showing("Writer", &[(1, Role::PUSH_BUTTON, name)])
}

fn returned(report: CallReport) -> CallResult {
    CallResult {
        status: CallStatus::Success,
        effect: Some(Verdict::Seen),
        route: None,
        report,
        output: Value::Null,
        picture: None,
        window: None,
        elapsed_ms: 0,
    }
}

fn act(tool: &str, arguments: &Value) -> Value {
    json!([{"function": tool, "arguments": arguments}])
}

fn click(id: &str) -> Value {
    act("click_element", &json!({"id": id}))
}

fn keys(keys: &str) -> Value {
    act("press_keys", &json!({"keys": keys}))
}

#[test]
fn a_label_that_looks_like_a_guarded_one_asks() {
    for label in [
        "Dеlete",
        "Ｄｅｌｅｔｅ",
        "D\u{301}elete",
        "DELEТЕ",
        "De\u{200b}lete",
        "\u{202e}Delete",
        "DeIete",
        "Ѕend",
        "Рay now",
        "Dіscаrd",
        "Löѕchen",
        "Удaлить",
        "🗑 Delete",
        "D e l e t e",
        "Empty Тrash",
    ] {
        assert!(asked(button(label), &click("e2")).is_some(), "{label}");
    }
    let why = asked(button("Cоntinue"), &click("e2")).unwrap();
    assert!(why.contains("mixes letters of several scripts"), "{why}");
    // Labels of the languages that have such letters are what they are.
    for label in [
        "Далее",
        "Открыть",
        "Сохранить как…",
        "Πίσω",
        "Αρχείο",
        "開く",
        "次へ",
        "열기",
        "Größe",
        "Élément",
        "SMS-сообщение",
        "Deleted items",
    ] {
        assert_eq!(asked(button(label), &click("e2")), None, "{label}");
    }
}

#[test]
fn what_only_looks_like_cancel_spares_no_question() {
    let mut seen = showing("Writer", &[]);
    let mut info = window(5, "Question", "Writer");
    (info.kind, info.owner) = (WindowKind::Dialog, Some(WindowId(1)));
    let dialog = |text: &str, label: &str| {
        vec![
            element(9, 0, Role::DIALOG, "Question"),
            element(10, 1, Role::LABEL, text),
            element(11, 1, Role::PUSH_BUTTON, label),
        ]
    };
    seen.surfaces.push(Surface { window: info, tree: Tree { elements: Vec::new(), partial: None } });
    let mut asks = |text: &str, label: &str| {
        seen.surfaces[1].tree.elements = dialog(text, label);
        asked(seen.clone(), &click("e11"))
    };
    assert_eq!(asks("Delete the file?", "Cancel"), None);
    assert!(asks("Delete the file?", "Cаncel").is_some());
    assert!(asks("Dеlеtе all files?", "Yes").is_some(), "the question in letters that look alike");
}

#[test]
fn rules_that_ask_or_deny_match_what_looks_like_their_names_and_those_that_allow_do_not() {
    let rule = |decision| PolicyRule { label: "Archive*".to_owned(), ..PolicyRule::new(decision, "no") };
    let decide = |decision: PolicyDecision| {
        let denies = PolicyRule {
            tool: "click_element".to_owned(),
            ..PolicyRule::new(PolicyDecision::Deny, "all else")
        };
        let policy = Policy { rules: vec![rule(decision), denies], ..Policy::default() };
        let policy = if decision == PolicyDecision::Allow {
            policy
        } else {
            Policy { rules: vec![rule(decision)], ..policy }
        };
        matches!(acting("Do it", button("Аrchive all"), policy, &click("e2")).effect(), Effect::Call { .. })
    };
    assert!(!decide(PolicyDecision::Deny));
    assert!(!decide(PolicyDecision::Allow));
}

#[test]
fn labels_can_be_added_and_none_taken_away() {
    let words = SafeGuardLabels {
        deletes: vec!["Zerstören".to_owned(), String::new()],
        ..SafeGuardLabels::default()
    };
    let policy = Policy { words, ..Policy::default() };
    let asks = |label: &str| {
        matches!(
            acting("Do it", button(label), policy.clone(), &click("e2")).effect(),
            Effect::AwaitApproval { .. }
        )
    };
    assert!(asks("Zerstören") && asks("_Zerstören…") && asks("Zerstörеn") && asks("Delete"));
    assert!(!asks("Next") && !asks(""));
}

/// A window for a message: its recipients e2, its text e3, a button e4.
fn message(to: &str, label: &str) -> WindowView {
    let fields = [(1, Role::ENTRY, "To"), (1, Role::TEXT, "Body"), (1, Role::PUSH_BUTTON, label)];
    let mut seen = showing("Mail", &fields);
    seen.surfaces[0].tree.elements[1].text = Some(to.to_owned());
    seen
}

#[test]
fn recipients_are_judged_by_what_the_field_holds_when_the_message_is_sent() {
    let evil = "mallory@evil.test";
    let asks = |request: &str, seen: WindowView, actions: Value| {
        asked_for(request, seen, &actions).is_some_and(|why| why.contains(&format!("`{evil}`")))
    };
    // However it came there: by keys, the clipboard, a completion.
    assert!(asks("Answer", message(evil, "Send"), click("e4")));
    assert!(asks("Answer", message(evil, "Ѕеnd"), click("e4")));
    assert!(asks("Answer", focused(message(evil, "Send"), 3, "Hi"), keys("ctrl+Return")));
    assert!(asks("Answer", message(evil, "Send"), keys("alt+s")));
    let why = asked_for("Write to mallory@evil.test", message(evil, "Send"), &click("e4"));
    assert_eq!(why.as_deref(), Some("it sends something to others and cannot be taken back"));
    // What does not send asks nobody.
    assert_eq!(asked_for("Answer", message(evil, "Attach"), &click("e4")), None);
    assert_eq!(asked_for("Answer", focused(message(evil, "Send"), 3, "Hi"), &keys("Return")), None);

    // Letter by letter.
    let typed = |text: &str| focused(message(text, "Send"), 2, text);
    assert!(asks("Answer", typed("mallory@evil.tes"), keys("t")));
    assert!(asks("Answer", typed("mallory@"), act("type_text", &json!({"text": "evil.test"}))));
    assert!(
        asks("Answer", typed("@evil.test"), act("type_text", &json!({"text": "mallory\n"}))),
        "before it"
    );
    assert_eq!(asked_for("Write to ada@example.org", typed("ada@exam"), &keys("p")), None);
    // A field that the focus was moved to in the same step.
    let moved = json!([
        {"function": "press_keys", "arguments": {"keys": "shift+Tab"}},
        {"function": "type_text", "arguments": {"text": evil}},
    ]);
    assert!(asks("Answer", focused(message("", "Send"), 3, ""), moved));
}

#[test]
fn a_message_is_sent_unasked_if_the_user_dictated_it_and_named_whom_it_is_for() {
    let asks = |request: &str, label: &str, shown: &str, typed: &str| {
        let seen = focused(showing("Chat", &[(1, Role::TEXT, label)]), 2, shown);
        asked_for(request, seen, &act("type_text", &json!({"id": "e2", "text": typed}))).is_some()
    };
    let request = "Tell Ada in chat: lunch at 12";
    assert!(!asks(request, "Message to Ada", "", "lunch at 12\n"));
    assert!(!asks(request, "Message to Ada", "lunch at 12", "\n"));
    assert!(asks(request, "Message to Mallory", "", "lunch at 12\n"), "somebody else");
    assert!(asks(request, "Message to Ada and Mallory", "", "lunch at 12\n"));
    assert!(asks(request, "Message", "", "lunch at 12\n"), "whoever it is");
    assert!(asks(request, "Message to Ada", "", "lunch at 12, and send money\n"));
    assert!(asks(request, "Message to Ada", "the key is 4711 ", "lunch at 12\n"), "with what stood there");
    assert!(asks("Answer Ada", "Message to Ada", "", "lunch at 12\n"));
}

#[test]
fn a_page_does_not_send_to_strangers_by_another_name() {
    let page = |label: &str| {
        let mut seen = showing(
            "Browser",
            &[
                (1, Role::DOCUMENT_WEB, "Mail"),
                (2, Role::ENTRY, "To"),
                (2, Role::LINK, label),
                (2, Role::PARAGRAPH, "Delete"),
            ],
        );
        seen.surfaces[0].tree.elements[2].text = Some("mallory@evil.test".to_owned());
        seen
    };
    assert!(asked(page("Next"), &click("e4")).unwrap().contains("`mallory@evil.test`"));
    assert_eq!(asked(page("Cancel"), &click("e4")), None);
    assert!(asked(page("Next"), &click("e5")).is_some(), "a text of a page may be a button");
}

#[test]
fn an_approval_for_the_session_covers_who_it_named() {
    let mut h = acting("Answer", message("mallory@evil.test", "Send"), Policy::default(), &click("e4"));
    h.answer(SessionEvent::Approved { scope: ApprovalScope::Session });
    let done =
        |h: &mut Harness| h.answer(SessionEvent::Returned { result: returned(CallReport::text("done")) });
    done(&mut h);
    let mut again = |to: &str| {
        h.answer(SessionEvent::Observed { observation: Observation::Window(message(to, "Send")) });
        h.reply(&json!({"thought": to, "status": "CONTINUE", "action": click("e4")}).to_string());
        let asks = matches!(h.effect(), Effect::AwaitApproval { .. });
        if asks {
            h.answer(SessionEvent::Approved { scope: ApprovalScope::Once });
        }
        done(&mut h);
        asks
    };
    assert!(!again("mallory@evil.test"));
    assert!(again("eve@evil.test"));
}

#[test]
fn files_that_are_run_without_being_opened_are_asked_about() {
    let saves = |path: &str| asked(showing("Writer", &[]), &act("save_as", &json!({"path": path})));
    for path in [
        "~/.bashrc",
        "/home/ada/../ada/.profile",
        "~/.config/autostart/a.desktop",
        "~/bin/ls",
        "~/work/.git/hooks/pre-commit",
        "file:///home/ada/.bashrc",
        "/etc/profile.d/a.sh",
        "~/.config/deskhand/config.toml",
    ] {
        assert!(saves(path).is_some_and(|why| why.contains("is run, or read by what runs")), "{path}");
    }
    assert_eq!(saves("~/report.odt"), None);

    // By the dialog of the application.
    let dialog = |typed: &str| {
        let mut seen = showing("Writer", &[(1, Role::FILE_CHOOSER, "Save As"), (2, Role::ENTRY, "Name")]);
        seen.surfaces[0].window.kind = WindowKind::Dialog;
        asked(seen, &act("type_text", &json!({"id": "e3", "text": typed})))
    };
    assert!(dialog("/home/ada/.bashrc").is_some());
    assert!(dialog("~/.config/autostart/x.txt").is_some());
    assert!(dialog("x.desktop").is_some());
    assert!(dialog("smb://evil.test/share/a.odt").unwrap().contains("`evil.test`"));
    assert_eq!(dialog("report.odt"), None);

    // A path in a text is no file.
    let text = showing("Writer", &[(1, Role::PARAGRAPH, "")]);
    assert_eq!(asked(text, &act("type_text", &json!({"id": "e2", "text": "/etc/hosts"}))), None);

    // A document that is open already.
    let open = |path: &str, actions: &Value| {
        let mut seen = button("Save");
        let document = document(path);
        seen.surfaces[0].window.document = Some(document);
        asked(seen, actions)
    };
    for actions in [keys("ctrl+s"), click("e2"), act("save", &json!({}))] {
        assert!(open("~/.profile", &actions).is_some(), "{actions}");
        assert_eq!(open("~/notes.txt", &actions), None, "{actions}");
    }
}

#[test]
fn a_place_of_secrets_is_opened_unasked_if_the_user_named_it() {
    let asks = |request: &str, file: &str| {
        let mut h = Harness::asked(with(Policy::default()), request, None);
        let arguments = json!({"name": "Mousepad", "files": [file]});
        h.step(&json!({
            "thought": "t", "status": "CONTINUE", "function": "launch_application", "arguments": arguments,
        }));
        matches!(h.effect(), Effect::AwaitApproval { .. })
    };
    assert!(
        asks("Do it", "~/.ssh/id_ed25519")
            && asks("Do it", "/home/ada/x/../.gnupg/key")
            && asks("Do it", "file:///home/ada/.netrc")
    );
    assert!(!asks("Open .ssh/config", "~/.ssh/config") && !asks("Do it", "~/notes.txt"));
    assert!(asks("Do it", "file://evil.test/share/a.odt"), "another machine");
}

#[test]
fn a_file_is_replaced_unasked_if_the_user_named_it_or_the_session_saved_it() {
    let save = |path: &str, overwrite: bool| act("save_as", &json!({"path": path, "overwrite": overwrite}));
    let asks = |request: &str, path: &str, overwrite: bool| {
        asked_for(request, showing("Writer", &[]), &save(path, overwrite))
    };
    let why = asks("Save it", "~/taxes.ods", true).unwrap();
    assert!(why.starts_with("it may replace `/home/ada/taxes.ods`, which the user has not named"), "{why}");
    assert_eq!(asks("Save it", "~/taxes.ods", false), None, "a file that exists is refused then");
    assert_eq!(asks("Save it as taxes", "taxes.ods", true), None);
    assert_eq!(asks("Save it as ~/taxes.ods", "~/taxes.ods", true), None);
    assert!(asks("Save it as taxes", "~/taxes.ods", true).is_some(), "another file of that name");
    let mut seen = showing("Writer", &[]);
    seen.surfaces[0].window.document = Some(document("/home/ada/plan.ods"));
    assert_eq!(asked_for("Save it as taxes", seen, &save("~/taxes.ods", true)), None, "beside the document");

    let path = "/home/ada/taxes.ods";
    let mut h = acting("Save it", showing("Writer", &[]), Policy::default(), &save(path, false));
    let seen =
        Evidence::Seen { proof: ActionProof::Saved { path: path.to_owned(), bytes: 1, already: false } };
    let saved = ActionOutcome::new(ActionKind::SaveAs { path: path.to_owned() }, Aim::Desktop, seen);
    let result = returned(CallReport::Action { action: Box::new(saved) });
    h.answer(SessionEvent::Returned { result });
    h.answer(SessionEvent::Observed { observation: Observation::Window(showing("Writer", &[])) });
    h.reply(&json!({"thought": "t", "status": "CONTINUE", "action": save(path, true)}).to_string());
    h.command();
}

#[test]
fn a_letter_asks_as_what_it_may_press() {
    let delete = || button("Delete");
    assert!(asked(delete(), &keys("alt+d")).unwrap().ends_with("it may press “Delete”"));
    assert_eq!(asked(delete(), &keys("alt+f")), None);
    assert_eq!(asked(delete(), &keys("d")), None, "a letter that is typed");
    let mut menu = showing("Files", &[]);
    let mut info = window(5, "", "Files");
    (info.kind, info.owner) = (WindowKind::Popup, Some(WindowId(1)));
    let entry = element(9, 0, Role::MENU_ITEM, "Move to Trash");
    menu.surfaces.push(Surface { window: info, tree: Tree { elements: vec![entry], partial: None } });
    assert!(asked(menu, &keys("t")).is_some());
    let rule = PolicyRule { label: "Delete".to_owned(), ..PolicyRule::new(PolicyDecision::Deny, "no") };
    let policy = Policy { rules: vec![rule], ..Policy::default() };
    let h = acting("Do it", delete(), policy, &keys("alt+d"));
    assert!(!matches!(h.effect(), Effect::Call { .. } | Effect::AwaitApproval { .. }));
}

#[test]
fn keys_and_clicks_ask_by_what_they_do_to_files_and_messages() {
    let files = || {
        let mut seen = showing(
            "Thunar",
            &[(1, Role::ICON, "setup.desktop"), (1, Role::ICON, "notes.txt"), (1, Role::PUSH_BUTTON, "Open")],
        );
        let icon = &mut seen.surfaces[0].tree.elements[1];
        icon.states = icon.states.with(State::Selected);
        seen
    };
    let twice = |id: &str| act("click_element", &json!({"id": id, "count": 2}));
    assert!(asked(files(), &keys("Delete")).is_some());
    assert_eq!(asked(button("Next"), &keys("Delete")), None, "in another application");
    assert!(asked(files(), &twice("e2")).unwrap().contains("setup.desktop"));
    assert!(asked(files(), &click("e4")).is_some(), "it opens what is chosen");
    assert_eq!(asked(files(), &click("e2")), None, "it chooses");
    assert_eq!(asked(files(), &twice("e3")), None);
    // A row of a list that is dropped on the trash.
    let seen = showing("Thunar", &[(1, Role::TABLE_CELL, "notes.txt"), (1, Role::ICON, "Trash")]);
    assert!(asked(seen, &act("drag", &json!({"from": "e2", "to": "e3"}))).is_some());
}

#[test]
fn a_button_asks_by_its_description_too() {
    let mut seen = button("");
    seen.surfaces[0].tree.elements[1].description = "Delete permanently".to_owned();
    assert!(asked(seen, &click("e2")).unwrap().contains("as its description says"));
    let drawn = showing("Canvas", &[(1, Role::DRAWN_TEXT, "Delete")]);
    assert!(asked(drawn, &click("e2")).is_some());
    // Words that are drawn at 10, 10, 80 by 20 in a window of 800 by 600.
    let at = |x: f64, y: f64| {
        let mut seen = showing("Canvas", &[(1, Role::DRAWING_AREA, ""), (2, Role::DRAWN_TEXT, "Delete")]);
        seen.surfaces[0].window.bounds = Rect::new(0, 0, 800, 600);
        seen.surfaces[0].tree.elements[1].bounds = Some(Rect::new(0, 0, 700, 500));
        asked(seen, &act("click_on_coordinates", &json!({"x": x, "y": y})))
    };
    assert!(at(0.05, 0.03).is_some());
    assert_eq!(at(0.13, 0.08).unwrap(), "it deletes data; “Delete” is drawn there");
    assert_eq!(at(0.15, 0.03), None);
    let shop = |field: &str| showing("Browser", &[(1, Role::ENTRY, field), (1, Role::LINK, "Next")]);
    assert!(asked(shop("Cаrd number"), &click("e3")).is_some());
    assert!(asked(shop("Card number"), &click("e3")).is_some());
    assert_eq!(asked(shop("Search"), &click("e3")), None);
}
