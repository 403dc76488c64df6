//! Flows of the session machine, each from a request to an outcome.

use deskhand_machine::{
    command::{CallResult, CallStatus},
    outcome::OutcomeKind,
    session::{ApprovalScope, Effect, EventRecord, Session, SessionEvent, StopReason, SubtaskStatus},
    states::HostStatus,
};
use deskhand_ui::{
    WindowInfo, WindowKind,
    action::{ActionKind, ActionOutcome, ActionProof, Aim, Verdict},
};
use serde_json::{Value, json};

use crate::harness::{Harness, app, assign_reply, config, host, window};

#[test]
fn request_is_finished_through_an_app_agent() {
    let mut h = Harness::started(config());
    h.step(&assign_reply("w1"));
    assert_eq!(h.command().to_line(), r#"select_application_window(id="w1")"#);
    h.succeeds(Some(h.windows[0].clone()), Value::Null);
    assert_eq!(h.session.host_status(), HostStatus::Assign);
    h.step(&app("FINISH", &["read_table"]));
    assert_eq!(h.command().tool, "read_table");
    h.succeeds(None, json!({"rows": [["Region", "Units"]]}));
    let subtask = &h.session.subtasks()[0];
    assert_eq!(
        (subtask.status, subtask.agent.to_string().as_str()),
        (SubtaskStatus::Finished, "AppAgent/libreoffice-writer")
    );
    h.look();
    assert!(h.prompt().contains(r#"[["Region","Units"]]"#), "the host sees what came of it: {}", h.prompt());
    h.reply(&host("FINISH").to_string());
    let outcome = h.outcome();
    assert_eq!((outcome.kind, outcome.reason.as_str()), (OutcomeKind::Finished, "the result"));
    h.answer(SessionEvent::acknowledged());
    assert_eq!(h.effect(), Effect::AwaitRequest);
    h.answer(SessionEvent::Ended);
    assert!(h.session.next().is_none());
}

#[test]
fn launch_with_assign_assigns_to_the_new_window() {
    let mut h = Harness::started(config());
    let reply = json!({
        "observation": "o", "thought": "t", "status": "assign", "current_subtask": "enter the table",
        "function": "launch_application", "arguments": {"name": "LibreOffice Calc"},
    });
    h.step(&reply);
    assert_eq!(h.command().tool, "launch_application");
    h.windows.push(window(2, "Untitled 1", "LibreOffice Calc"));
    h.succeeds(Some(h.windows[1].clone()), Value::Null);
    h.look();
    assert!(h.prompt().contains("- [w2] window \"Untitled 1\" of LibreOffice Calc"), "{}", h.prompt());
}

#[test]
fn closed_window_fails_the_subtask_and_evicts_its_agent() {
    let mut h = Harness::started(config());
    h.assign();
    h.windows.clear();
    h.look();
    assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Failed);
    h.look();
    let prompt = h.prompt();
    assert!(prompt.contains("window w1 was closed") && prompt.contains("No window is open"), "{prompt}");
}

fn with_proof(proof: ActionProof, window: WindowInfo) -> SessionEvent {
    let action = ActionOutcome::new(ActionKind::Press { chord: "ctrl+q".to_owned() }, Aim::Unresolved, proof);
    let effect = Some(Verdict::Seen);
    let result = CallResult { status: CallStatus::Success, effect, ..CallResult::failure(None, "") };
    SessionEvent::Returned { result: CallResult { report: action.into(), window: Some(window), ..result } }
}

#[test]
fn window_that_the_last_action_closed_finishes_the_subtask() {
    let mut h = Harness::started(config());
    h.assign();
    h.step(&app("CONTINUE", &["click_element"]));
    let window = h.windows.remove(0);
    h.answer(with_proof(ActionProof::WindowClosed { window: (&window).into() }, window));
    h.look();
    assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Finished);
    h.look();
    assert!(h.prompt().contains("window w1 was closed"), "{}", h.prompt());
}

#[test]
fn finish_does_not_stand_while_a_question_that_the_action_raised_is_open() {
    let check = |proof: &dyn Fn(&WindowInfo) -> ActionProof, expect: &str, finishes: bool| {
        let mut h = Harness::started(config());
        h.assign();
        let mut reply = app("FINISH", &["click_element"]);
        reply["action"][0]["expect"] = expect.into();
        h.step(&reply);
        let mut dialog = window(9, "Save Changes", "LibreOffice Writer");
        dialog.kind = WindowKind::Dialog;
        h.answer(with_proof(proof(&dialog), dialog.clone()));
        assert_eq!(!h.session.subtasks().is_empty(), finishes);
        h.look();
        if !finishes {
            assert!(h.prompt().contains("w9 “Save Changes” opened and is still open"), "{}", h.prompt());
            // Having seen it, the agent decides.
            h.reply(&app("FINISH", &[]).to_string());
            assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Finished);
        }
    };
    let opened = |dialog: &WindowInfo| ActionProof::WindowOpened { window: dialog.into() };
    check(&opened, "Writer closed", false);
    check(&opened, "Save Changes", true);
    check(&|dialog| ActionProof::WindowClosed { window: dialog.into() }, "Writer closed", true);
}

#[test]
fn invalid_reply_is_repaired_then_an_error() {
    let mut h = Harness::started(config());
    h.step(&json!({"thought": "t", "status": "COMPLETED"}));
    let prompt = h.prompt();
    assert!(
        prompt.contains("`status`: `COMPLETED` is not a status; use one of CONTINUE, ASSIGN"),
        "{prompt}"
    );
    h.reply("I am done.");
    assert!(h.prompt().contains("no JSON object"), "{}", h.prompt());
    h.reply(r#"{"status": "FINISH"}"#);
    let outcome = h.outcome();
    assert_eq!(outcome.kind, OutcomeKind::Error);
    assert!(outcome.reason.contains("after 3 attempts: `thought`: missing"), "{}", outcome.reason);
}

#[test]
fn repetition_gets_a_notice_then_a_refusal_then_a_stop() {
    let mut h = Harness::started(config());
    h.assign();
    let same = app("CONTINUE", &["click_element"]);
    h.step(&same);
    h.succeeds(None, Value::Null);
    h.look();
    assert!(!h.prompt().contains("exactly the same"), "{}", h.prompt());
    h.reply(&same.to_string());
    h.succeeds(None, Value::Null);
    h.look();
    assert!(h.prompt().contains("exactly the same 2 times"), "{}", h.prompt());
    // The third time it is not run any more.
    h.reply(&same.to_string());
    h.look();
    let prompt = h.prompt();
    assert!(prompt.contains("refused: not run: the same action ran 2 times"), "{prompt}");
    assert!(prompt.contains("Also available: read_table."), "{prompt}");
    h.reply(&same.to_string());
    let subtask = &h.session.subtasks()[0];
    assert_eq!(subtask.status, SubtaskStatus::Failed);
    assert_eq!(subtask.result, "the same actions were proposed 4 times in a row and nothing changed");

    // Another way starts a new count.
    let mut h = Harness::started(config());
    h.assign();
    for tool in ["click_element", "click_element", "read_table", "click_element", "click_element"] {
        h.step(&app("CONTINUE", &[tool]));
        h.succeeds(None, Value::Null);
    }

    // The host as well; another sub-task for the same window is nothing that repeats.
    let mut h = Harness::started(config());
    for count in 1..=4 {
        let mut reply = assign_reply("w1");
        reply["current_subtask"] = json!(format!("part {count}"));
        h.step(&reply);
        h.succeeds(h.windows.first().cloned(), Value::Null);
        h.step(&app("FINISH", &["read_table"]));
        h.succeeds(None, Value::Null);
    }
    for _ in 1..=4 {
        h.step(&assign_reply("w9"));
    }
    assert_eq!(h.outcome().kind, OutcomeKind::Failed);
    assert!(h.outcome().reason.contains("4 times in a row"), "{}", h.outcome().reason);
}

#[test]
fn unknown_tool_is_never_called() {
    let mut h = Harness::started(config());
    h.assign();
    h.step(&app("FINISH", &["click_elements"]));
    h.look();
    assert!(h.prompt().contains("did you mean `click_element`?"), "{}", h.prompt());
}

#[test]
fn stop_ends_the_round_immediately() {
    let mut h = Harness::started(config());
    h.assign();
    h.step(&app("CONTINUE", &["click_element"]));
    let out = h.session.next().unwrap().id;
    h.answer(SessionEvent::Stopped { reason: StopReason::User });
    assert_eq!(h.outcome().kind, OutcomeKind::Cancelled);
    let late = SessionEvent::Approved { scope: ApprovalScope::Once };
    let error = h.session.apply(&EventRecord { effect: Some(out), at_ms: 9_999, event: late });
    assert!(error.is_err(), "a late answer changes nothing");
    assert_eq!(h.outcome().kind, OutcomeKind::Cancelled);
}

#[test]
fn machine_can_be_serialized_at_every_effect() {
    let mut h = Harness::started(config());
    let reload = |h: &mut Harness| {
        let text = serde_json::to_string(&h.session).unwrap();
        let back: Session = serde_json::from_str(&text).unwrap();
        assert_eq!(back, h.session);
        h.session = back;
    };
    reload(&mut h);
    h.look();
    reload(&mut h);
    h.reply(&assign_reply("w1").to_string());
    reload(&mut h);
    h.succeeds(Some(h.windows[0].clone()), Value::Null);
    reload(&mut h);
    h.step(&app("CONFIRM", &["click_element"]));
    reload(&mut h);
    h.answer(SessionEvent::Approved { scope: ApprovalScope::Once });
    reload(&mut h);
    h.succeeds(None, Value::Null);
    reload(&mut h);
}
