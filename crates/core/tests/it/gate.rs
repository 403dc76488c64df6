//! What may be done: rules, the safe guard, approvals that hold for the session.

use deskhand_core::{
    policy::{Decision, Policy, Rule},
    session::{ApprovalScope, AskedBy, Effect, Event, NoAnswer, SessionConfig, SubtaskStatus},
};
use serde_json::{Value, json};

use crate::harness::{Harness, app, config, tool};

fn with(policy: Policy) -> SessionConfig {
    let mut config = config();
    config.policy = policy;
    config.app_tools.push(tool("press_keys"));
    config.app_tools.push(tool("visit"));
    config
}

fn rule(decision: Decision, tool: &str, application: &str, label: &str) -> Rule {
    Rule {
        tool: tool.to_owned(),
        application: application.to_owned(),
        label: label.to_owned(),
        ..Rule::new(decision, "house rule 7")
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
fn a_denied_command_never_goes_out_and_the_agent_is_told_the_reason() {
    let deny =
        Policy { rules: vec![rule(Decision::Deny, "click_*", "*writer*", "fin?sh")], safe_guard: true };
    let check = |policy: &Policy, actions: &Value, status: &str| {
        let mut h = proposes(with(policy.clone()), actions, status);
        h.look();
        let prompt = h.prompt();
        assert!(
            prompt.contains("[effect: refused] not run: the policy does not allow it (house rule 7)"),
            "{prompt}"
        );
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
    let elsewhere = Policy { rules: vec![rule(Decision::Deny, "*", "calc", "*")], ..deny };
    assert_eq!(proposes(with(elsewhere), &click("e3"), "CONTINUE").command().tool, "click_element");
}

#[test]
fn the_first_rule_that_fits_decides() {
    let rules = vec![
        rule(Decision::Allow, "click_element", "*", "Finish"),
        rule(Decision::Deny, "click_element|press_keys", "*", "*"),
    ];
    let policy = Policy { rules, safe_guard: true };
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
fn an_element_that_was_not_shown_is_not_pressed_where_its_name_matters() {
    let mut h = proposes(with(Policy::default()), &click("e99"), "CONTINUE");
    h.look();
    assert!(h.prompt().contains("there is no element e99 in what you were shown"), "{}", h.prompt());
}

#[test]
fn what_the_policy_asks_about_is_parked_like_what_the_model_asks_about() {
    let ask = Policy { rules: vec![rule(Decision::Ask, "*", "*", "finish")], safe_guard: false };
    let parked = || {
        let h = proposes(with(ask.clone()), &click("e3"), "FINISH");
        let Effect::AwaitApproval { approval } = h.effect() else { panic!("{:?}", h.effect()) };
        assert_eq!(approval.asked_by, AskedBy::Policy { rule: "house rule 7".to_owned() });
        assert_eq!(approval.commands.len(), 1);
        h
    };
    let mut h = parked();
    h.answer(Event::Approved { scope: ApprovalScope::Once });
    assert_eq!(h.command().tool, "click_element");
    h.succeeds(None, Value::Null);
    // Approved: it is run, then the agent goes on; FINISH is its next word.
    h.step(&app("FINISH", &[]));
    assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Finished);
    let mut h = parked();
    h.answer(Event::Unanswered { why: NoAnswer::NoChannel });
    assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Rejected);
}

#[test]
fn an_approval_for_the_session_holds_for_the_same_element_by_name() {
    let confirm = app("CONFIRM", &["click_element"]);
    let mut h = Harness::started(config());
    h.assign();
    h.step(&confirm);
    h.answer(Event::Approved { scope: ApprovalScope::Session });
    h.succeeds(None, Value::Null);
    // Also where the model says CONFIRM again.
    h.step(&confirm);
    assert_eq!(h.command().tool, "click_element");
    h.succeeds(None, Value::Null);
    // Not for another element, nor for another tool on it.
    h.step(&json!({"thought": "t", "status": "CONFIRM", "action": click("e1")}));
    assert!(matches!(h.effect(), Effect::AwaitApproval { .. }));
    h.answer(Event::Approved { scope: ApprovalScope::Once });
    h.succeeds(None, Value::Null);
    h.step(&json!({"thought": "t", "status": "CONFIRM", "action": click("e1")}));
    assert!(matches!(h.effect(), Effect::AwaitApproval { .. }), "once is once");
    h.answer(Event::Rejected { instruction: Some("no".to_owned()) });
    h.step(&app("CONFIRM", &["read_table"]));
    assert!(matches!(h.effect(), Effect::AwaitApproval { .. }));
}

#[test]
fn without_the_safe_guard_a_confirm_runs_unasked() {
    let policy = Policy { rules: Vec::new(), safe_guard: false };
    let mut h = proposes(with(policy), &click("e3"), "CONFIRM");
    assert_eq!(h.command().tool, "click_element");
    h.succeeds(None, Value::Null);
    h.look(); // CONTINUE
}

#[test]
fn the_safe_guard_asks_about_what_cannot_be_undone_and_little_else() {
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

/// Random sessions deleted what nobody had approved of: the model gave Delete the focus and pressed the space bar in one
/// breath, and the gate looked only at what had the focus before.
#[test]
fn what_was_given_the_focus_and_is_then_pressed_goes_through_the_gate_under_its_name() {
    let policy = Policy { rules: vec![rule(Decision::Deny, "*", "*", "Finish")], safe_guard: true };
    let pressing = Policy { rules: vec![rule(Decision::Ask, "press_keys", "*", "Finish")], safe_guard: true };
    let actions = |keys: &str| {
        json!([{"function": "click_element", "arguments": {"id": "e3"}},
               {"function": "press_keys", "arguments": {"keys": keys}}])
    };
    let h = proposes(with(pressing.clone()), &actions("space"), "CONTINUE");
    let Effect::AwaitApproval { approval } = h.effect() else { panic!("{:?}", h.effect()) };
    assert_eq!(approval.asked_by, AskedBy::Policy { rule: "house rule 7".to_owned() });
    let mut h = proposes(with(policy), &actions("space"), "CONTINUE");
    h.look();
    assert!(h.prompt().contains("the policy does not allow it"), "{}", h.prompt());

    // Where Tab leads to, nobody has seen.
    let tab = json!([{"function": "press_keys", "arguments": {"keys": "Tab space"}}]);
    let mut h = proposes(with(pressing.clone()), &tab, "CONTINUE");
    h.look();
    assert!(h.prompt().contains("no element known to have the focus after Tab"), "{}", h.prompt());
    // What is pressed before Tab is known.
    let tab = json!([{"function": "press_keys", "arguments": {"keys": "space Tab"}}]);
    let h = proposes(with(pressing), &tab, "CONTINUE");
    assert!(matches!(h.effect(), Effect::Call { .. }), "{:?}", h.effect());
}
