//! The gate: rules, the safe guard, approvals for a session.

use deskhand_machine::{
    policy::{Policy, PolicyDecision, PolicyRule},
    session::{ApprovalScope, AskedBy, Effect, NoAnswer, SessionConfig, SessionEvent, SubtaskStatus},
};
use deskhand_ui::ids::ElementId;
use serde_json::{Value, json};

use crate::harness::{Harness, app, config, tool};

fn with(policy: Policy) -> SessionConfig {
    let mut config = config();
    config.policy = policy;
    config.app_tools.push(tool("press_keys"));
    config.app_tools.push(tool("visit"));
    config
}

fn rule(decision: PolicyDecision, tool: &str, application: &str, label: &str) -> PolicyRule {
    PolicyRule {
        tool: tool.to_owned(),
        application: application.to_owned(),
        label: label.to_owned(),
        ..PolicyRule::new(decision, "house rule 7")
    }
}

/// An AppAgent in Writer wants to do this.
fn proposes(config: SessionConfig, actions: &Value, status: &str) -> Harness {
    let mut h = Harness::started(config);
    h.assign();
    h.step(&json!({"thought": "because", "status": status, "action": actions}));
    h
}

fn click(id: &str) -> Value {
    json!([{"function": "click_element", "arguments": {"id": id}}])
}

#[test]
fn denied_command_is_not_sent_and_the_reason_is_reported() {
    let deny = Policy {
        rules: vec![rule(PolicyDecision::Deny, "click_*", "*writer*", "fin?sh")],
        ..Policy::default()
    };
    let check = |policy: &Policy, actions: &Value, status: &str| {
        let mut h = proposes(with(policy.clone()), actions, status);
        h.look();
        let prompt = h.prompt();
        assert!(prompt.contains("refused: not run: denied by the policy (house rule 7)"), "{prompt}");
    };
    // By name or number, whatever name the model gives it, and also where it asks for an approval.
    check(&deny, &click("e3"), "CONTINUE");
    check(&deny, &click("3"), "FINISH");
    check(
        &deny,
        &json!([{"function": "click_element", "arguments": {"id": 3, "name": "Cancel"}}]),
        "CONTINUE",
    );
    check(&deny, &click("e3"), "CONFIRM");
    // Switching off the guard does not switch off the rules.
    check(&Policy { safe_guard: false, ..deny.clone() }, &click("e3"), "CONTINUE");
    // What stands before it is run, what stands after it is not.
    let mut h = proposes(
        with(deny.clone()),
        &json!([
            {"function": "read_table"}, {"function": "click_element", "arguments": {"id": "e3"}}, {"function": "read_table"}
        ]),
        "CONTINUE",
    );
    h.succeeds(None, Value::Null);
    h.look();
    assert!(h.prompt().contains("house rule 7") && h.prompt().contains("skipped"), "{}", h.prompt());
    // In another application it holds not.
    let elsewhere = Policy { rules: vec![rule(PolicyDecision::Deny, "*", "calc", "*")], ..deny };
    assert_eq!(proposes(with(elsewhere), &click("e3"), "CONTINUE").command().tool, "click_element");
}

#[test]
fn names_and_keys_are_judged_as_they_are_carried_out() {
    let check = |label: &str, tool: &str, arguments: Value| {
        let policy = Policy {
            rules: vec![rule(PolicyDecision::Deny, "*", "*", label)],
            safe_guard: false,
            ..Policy::default()
        };
        let mut h = proposes(with(policy), &json!([{"function": tool, "arguments": arguments}]), "CONTINUE");
        h.look();
        assert!(h.prompt().contains("not run: denied by the policy"), "{label}: {}", h.prompt());
    };
    check("Save*", "visit", json!({"path": ["File", "Sa_ve"]}));
    check("Save As", "visit", json!({"path": ["File", "sa&ve \u{200b}As…"]}));
    check("ctrl+s", "press_keys", json!({"keys": "control+s"}));
    check("ctrl+s", "press_keys", json!({"keys": "ctrl+a CTRL+S"}));
    check("Return", "press_keys", json!({"keys": "En_ter"}));
    check("shift+Delete", "press_keys", json!({"keys": "shift+del"}));
}

#[test]
fn first_matching_rule_decides() {
    let rules = vec![
        rule(PolicyDecision::Allow, "click_element", "*", "Finish"),
        rule(PolicyDecision::Deny, "click_element|press_keys", "*", "*"),
    ];
    let policy = Policy { rules, ..Policy::default() };
    assert_eq!(proposes(with(policy.clone()), &click("e3"), "CONTINUE").command().tool, "click_element");
    let mut h = proposes(
        with(policy),
        &json!([{"function": "press_keys", "arguments": {"keys": "ctrl+s"}}]),
        "CONTINUE",
    );
    h.look();
    assert!(h.prompt().contains("house rule 7"), "{}", h.prompt());
}

#[test]
fn unknown_element_is_refused_if_a_rule_depends_on_its_name() {
    let mut h = proposes(with(Policy::default()), &click("e99"), "CONTINUE");
    h.look();
    assert!(h.prompt().contains("no element e99 in your view"), "{}", h.prompt());
}

#[test]
fn policy_approval_parks_like_a_models_confirm() {
    let ask = Policy {
        rules: vec![rule(PolicyDecision::Ask, "*", "*", "finish")],
        safe_guard: false,
        ..Policy::default()
    };
    let parked = || {
        let h = proposes(with(ask.clone()), &click("e3"), "FINISH");
        let Effect::AwaitApproval { approval } = h.effect() else { panic!("{:?}", h.effect()) };
        assert_eq!(approval.asked_by, AskedBy::Policy { rule: "house rule 7".to_owned() });
        assert_eq!(approval.commands.len(), 1);
        h
    };
    let mut h = parked();
    h.answer(SessionEvent::Approved { scope: ApprovalScope::Once });
    assert_eq!(h.command().tool, "click_element");
    h.succeeds(None, Value::Null);
    // Approved: it is run, then the agent goes on; FINISH is its next word.
    h.step(&app("FINISH", &[]));
    assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Finished);
    let mut h = parked();
    h.answer(SessionEvent::Unanswered { why: NoAnswer::NoChannel });
    assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Rejected);
}

#[test]
fn session_approval_covers_the_same_element_by_name() {
    let confirm = app("CONFIRM", &["click_element"]);
    let mut h = Harness::started(config());
    h.assign();
    h.step(&confirm);
    h.answer(SessionEvent::Approved { scope: ApprovalScope::Session });
    h.succeeds(None, Value::Null);
    // Also where the model says CONFIRM again.
    h.step(&confirm);
    assert_eq!(h.command().tool, "click_element");
    h.succeeds(None, Value::Null);
    // Not for another element, nor for another tool on it.
    h.step(&json!({"thought": "t", "status": "CONFIRM", "action": click("e1")}));
    assert!(matches!(h.effect(), Effect::AwaitApproval { .. }));
    h.answer(SessionEvent::Approved { scope: ApprovalScope::Once });
    h.succeeds(None, Value::Null);
    h.step(&json!({"thought": "t", "status": "CONFIRM", "action": click("e1")}));
    assert!(matches!(h.effect(), Effect::AwaitApproval { .. }), "once is once");
    h.answer(SessionEvent::Rejected { instruction: Some("no".to_owned()), is_message: false });
    h.step(&app("CONFIRM", &["read_table"]));
    assert!(matches!(h.effect(), Effect::AwaitApproval { .. }));
}

#[test]
fn without_the_safe_guard_confirm_runs_without_approval() {
    let policy = Policy { rules: Vec::new(), safe_guard: false, ..Policy::default() };
    let mut h = proposes(with(policy), &click("e3"), "CONFIRM");
    assert_eq!(h.command().tool, "click_element");
    h.succeeds(None, Value::Null);
    h.look(); // CONTINUE
}

#[test]
fn safe_guard_asks_only_about_irreversible_actions() {
    let check = |tool: &str, arguments: Value, asks: bool| {
        let mut h = Harness::started(with(Policy::default()));
        h.button = "Don't Save".to_owned();
        h.assign();
        let action = json!([{"function": tool, "arguments": arguments}]);
        h.step(&json!({"thought": "t", "status": "CONTINUE", "action": action}));
        assert_eq!(matches!(h.effect(), Effect::AwaitApproval { .. }), asks, "{tool} {arguments}");
    };
    check("click_element", json!({"id": "e3"}), true);
    check("visit", json!({"path": ["Edit", "Delete…"]}), true);
    check("visit", json!({"path": ["File", "Send", "Print…"]}), false);
    check("visit", json!({"path": ["Sheet", "Delete Rows"]}), false);
    check("press_keys", json!({"keys": "shift+Delete"}), true);
    check("press_keys", json!({"keys": "Delete"}), false);
    check("read_table", json!({"name": "Delete"}), false);
}

/// Regression: a reply that focused Delete and then pressed Space passed the gate, which only considered the element
/// focused before the reply.
#[test]
fn key_press_is_judged_by_the_element_focused_before_it() {
    let policy = Policy { rules: vec![rule(PolicyDecision::Deny, "*", "*", "Finish")], ..Policy::default() };
    let pressing =
        Policy { rules: vec![rule(PolicyDecision::Ask, "press_keys", "*", "Finish")], ..Policy::default() };
    let actions = |keys: &str| {
        json!([{"function": "click_element", "arguments": {"id": "e3"}},
               {"function": "press_keys", "arguments": {"keys": keys}}])
    };
    let h = proposes(with(pressing.clone()), &actions("space"), "CONTINUE");
    let Effect::AwaitApproval { approval } = h.effect() else { panic!("{:?}", h.effect()) };
    assert_eq!(approval.asked_by, AskedBy::Policy { rule: "house rule 7".to_owned() });
    let mut h = proposes(with(policy), &actions("space"), "CONTINUE");
    h.look();
    assert!(h.prompt().contains("denied by the policy"), "{}", h.prompt());

    // The element after Tab is unknown.
    let tab = json!([{"function": "press_keys", "arguments": {"keys": "Tab space"}}]);
    let mut h = proposes(with(pressing.clone()), &tab, "CONTINUE");
    h.look();
    assert!(h.prompt().contains("no element known to have the focus after Tab"), "{}", h.prompt());
    // So is the one after an arrow key from a button; in a text the arrow stays in the text.
    let mut h = proposes(with(pressing.clone()), &actions("Right space"), "CONTINUE");
    h.succeeds(None, json!(null));
    h.look();
    assert!(h.prompt().contains("no element known to have the focus after an arrow key"), "{}", h.prompt());
    // What is pressed before Tab is known.
    let tab = json!([{"function": "press_keys", "arguments": {"keys": "space Tab"}}]);
    let h = proposes(with(pressing), &tab, "CONTINUE");
    assert!(matches!(h.effect(), Effect::Call { .. }), "{:?}", h.effect());
}

#[test]
fn clipboard_tools_follow_ask_and_deny_rules_for_typing() {
    let with_paste = |policy: Policy| {
        let mut config = with(policy);
        config.app_tools.extend(["type_text", "paste_text", "write_clipboard", "read_clipboard"].map(tool));
        config
    };
    let runs = |rule: &PolicyRule, tool: &str| {
        let policy = Policy { rules: vec![rule.clone()], ..Policy::default() };
        let action = json!([{"function": tool, "arguments": {"id": "e3", "text": "x"}}]);
        matches!(proposes(with_paste(policy), &action, "CONTINUE").effect(), Effect::Call { .. })
    };
    for decision in [PolicyDecision::Deny, PolicyDecision::Ask] {
        let typing = rule(decision, "type_text", "*", "*");
        for tool in ["type_text", "paste_text", "write_clipboard"] {
            assert!(!runs(&typing, tool), "{tool}");
        }
        assert!(runs(&typing, "read_clipboard") && runs(&rule(decision, "visit", "*", "*"), "paste_text"));
    }
    let first = rule(PolicyDecision::Allow, "type_text", "*", "*");
    let rules = vec![first, rule(PolicyDecision::Deny, "type_*|paste_*", "*", "*")];
    let action = json!([{"function": "paste_text", "arguments": {"id": "e3", "text": "x"}}]);
    let mut h = proposes(with_paste(Policy { rules, ..Policy::default() }), &action, "CONTINUE");
    h.look();
    assert!(h.prompt().contains("house rule 7"), "{}", h.prompt());
}

#[test]
fn reference_call_is_judged_as_the_converted_tool() {
    let pairs = [
        ("click_input", json!({"id": "3", "name": "OK"}), "click_element", json!({"id": "3"})),
        ("set_edit_text", json!({"id": 3, "text": "a\n"}), "type_text", json!({"id": 3, "text": "a\n"})),
        ("keyboard_input", json!({"id": "3", "keys": "{SPACE}"}), "press_keys", json!({"keys": "space"})),
        ("keyboard_input", json!({"keys": "+{DELETE}"}), "press_keys", json!({"keys": "shift+delete"})),
        ("wheel_mouse_input", json!({"id": "3", "wheel_dist": 1}), "scroll", json!({"id": "3", "down": -1})),
        ("texts", json!({"id": "3"}), "read_text", json!({"id": "3"})),
    ];
    let kind = |effect: &Effect| {
        if let Effect::AwaitApproval { approval } = effect {
            format!("asks {:?}", approval.asked_by)
        } else if let Effect::Call { command } = effect {
            format!("calls {}", command.tool)
        } else {
            format!("{effect:?}")
        }
    };
    for (name, arguments, own, own_arguments) in pairs {
        // The tool under its own name, under the reference's, and a rule for the reference's name says nothing.
        let judged = |policy: Policy, actions: &Value| {
            let mut config = with(policy);
            config.app_tools.extend(["type_text", "scroll", "read_text", "focus_element"].map(tool));
            let mut h = Harness::started(config);
            h.button = "Delete".to_owned();
            h.assign();
            h.step(&json!({"thought": "t", "status": "CONTINUE", "action": actions}));
            kind(&h.effect())
        };
        let mut actions = json!([{"function": own, "arguments": own_arguments}]);
        if own == "press_keys" && arguments.get("id").is_some() {
            let focus = json!({"function": "focus_element", "arguments": {"id": "3"}});
            actions.as_array_mut().unwrap().insert(0, focus);
        }
        let reference = json!([{"function": name, "arguments": arguments}]);
        for rules in [
            vec![],
            vec![rule(PolicyDecision::Deny, own, "*", "*")],
            vec![rule(PolicyDecision::Ask, own, "*", "Delete")],
            vec![rule(PolicyDecision::Allow, "*", "*", "Delete")],
            vec![rule(PolicyDecision::Deny, name, "*", "*")],
        ] {
            let policy = Policy { rules, ..Policy::default() };
            let (one, other) = (judged(policy.clone(), &actions), judged(policy, &reference));
            assert_eq!(one, other, "{name}");
        }
        let asks = vec![rule(PolicyDecision::Ask, own, "*", "*")];
        let policy = Policy { rules: asks, ..Policy::default() };
        assert!(judged(policy, &reference).starts_with("asks Policy"), "{name}");
    }
}

/// A row or button without a name is listed with the text in it, and goes through the gate under that.
#[test]
fn unnamed_element_is_judged_by_its_descendants() {
    let clicks = |text: &str| {
        let mut h = Harness::started(with(Policy::default()));
        h.button = String::new();
        h.assign();
        let mut view = crate::harness::view(h.windows[0].clone(), "");
        let label = crate::harness::element(4, 3, deskhand_ui::Role::LABEL, text);
        view.surfaces[0].tree.elements.push(label);
        h.answer(SessionEvent::Observed {
            observation: deskhand_machine::observation::Observation::Window(view),
        });
        h.reply(&json!({"thought": "t", "status": "CONTINUE", "action": click("e3")}).to_string());
        h.effect()
    };
    assert!(matches!(clicks("Delete"), Effect::AwaitApproval { .. }));
    assert!(matches!(clicks("Keep"), Effect::Call { .. }));
}

#[test]
fn click_on_coordinates_is_judged_by_the_element_there() {
    let at = |label: &str, x: f64, y: f64| {
        let mut config = with(Policy::default());
        config.app_tools.extend(["click_on_coordinates", "drag_on_coordinates"].map(tool));
        config.policy.rules.push(rule(PolicyDecision::Deny, "*_on_coordinates", "*", "Finish"));
        let mut h = Harness::started(config);
        h.button = label.to_owned();
        h.assign();
        let click = json!([{"function": "click_on_coordinates", "arguments": {"x": x, "y": y}}]);
        h.step(&json!({"thought": "t", "status": "CONTINUE", "action": click}));
        h
    };
    // The button lies from (10, 10) to (90, 30) of 800 times 600.
    assert!(matches!(at("Delete", 0.05, 0.03).effect(), Effect::AwaitApproval { .. }));
    assert_eq!(at("OK", 0.05, 0.03).command().tool, "click_on_coordinates");
    let mut h = at("Finish", 0.05, 0.03);
    h.look();
    assert!(h.prompt().contains("house rule 7"), "{}", h.prompt());
    // No element is known there, and a rule looks at names.
    let mut h = at("OK", 0.5, 0.5);
    h.look();
    assert!(h.prompt().contains("no element known to be at that position"), "{}", h.prompt());
}

#[test]
fn a_command_is_read_once_into_its_canonical_form() {
    let config = with(Policy::default());
    let keys = json!([{"function": "press_keys", "arguments": {"keys": " control+S  Shift+CTRL+en_ter"}}]);
    let h = proposes(config.clone(), &keys, "CONTINUE");
    let command = h.command();
    assert_eq!(command.arguments["keys"], "ctrl+s ctrl+shift+Return");
    assert_eq!(command.intent.chords().count(), 2);
    let judged = command.judged.unwrap();
    assert_eq!(judged.names, ["ctrl+s", "ctrl+shift+Return", "ctrl+s ctrl+shift+Return"]);

    let click = json!([{"function": "click_element", "arguments": {"id": 3}}]);
    let command = proposes(config.clone(), &click, "CONTINUE").command();
    assert_eq!(command.arguments["id"], "e3");
    let judged = command.judged.unwrap();
    let [element] = &judged.elements[..] else { panic!("{judged:?}") };
    assert_eq!((element.id, element.role.name()), (ElementId(3), "push button"));
    assert!(!judged.approved && judged.pid == Some(1));

    let wrong = json!([{"function": "press_keys", "arguments": {"keys": "ctrl+hyper+x"}}]);
    let mut h = proposes(config, &wrong, "CONTINUE");
    h.look();
    assert!(h.prompt().contains("`keys` must be key chords"), "{}", h.prompt());
}

#[test]
fn rules_match_what_a_tool_does() {
    let no_presses =
        PolicyRule { does: "press|drag".to_owned(), ..PolicyRule::new(PolicyDecision::Deny, "house rule 7") };
    let policy = Policy { rules: vec![no_presses], ..Policy::default() };
    let click = json!([{"function": "click_element", "arguments": {"id": "e3"}}]);
    let mut h = proposes(with(policy.clone()), &click, "CONTINUE");
    h.look();
    assert!(h.prompt().contains("house rule 7"), "{}", h.prompt());
    let read = json!([{"function": "read_table", "arguments": {}}]);
    assert_eq!(proposes(with(policy), &read, "CONTINUE").command().tool, "read_table");
}
