//! Tests of the decisions in `docs/design/decisions.md`; the comment above each names the one that it shows.

use deskhand_machine::{
    outcome::OutcomeKind,
    session::{
        ApprovalScope, Effect, EventRecord, NoAnswer, RoundLimits, SessionConfig, SessionEvent, StopReason,
        SubtaskStatus,
    },
    states::HostStatus,
};
use serde_json::{Value, json};

use crate::harness::{Harness, app, assign_reply, config, host, window};

// docs/design/decisions.md, decision 1
#[test]
fn error_from_the_host_model_is_taken_as_fail() {
    let mut h = Harness::started(config());
    h.step(&json!({"observation": "", "thought": "odd", "status": " Error. "}));
    let outcome = h.outcome();
    assert_eq!(
        (outcome.kind, outcome.reason.as_str()),
        (OutcomeKind::Failed, "the HostAgent reported ERROR: odd")
    );
}

// docs/design/decisions.md, decision 3
#[test]
fn parked_action_runs_only_when_approved() {
    let parked = || {
        let mut h = Harness::started(config());
        h.assign();
        h.step(&app("CONFIRM", &["click_element"]));
        let Effect::AwaitApproval { approval } = h.effect() else { panic!("{:?}", h.effect()) };
        assert_eq!(approval.commands[0].tool, "click_element");
        h
    };
    let mut h = parked();
    h.answer(SessionEvent::Approved { scope: ApprovalScope::Once });
    assert_eq!(h.command().tool, "click_element");
    h.succeeds(None, Value::Null);
    h.look(); // CONTINUE

    let mut h = parked();
    h.answer(SessionEvent::Rejected { instruction: None, is_message: false });
    assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Rejected);
    h.look(); // the host goes on

    let mut h = parked();
    h.answer(SessionEvent::Rejected { instruction: Some("use the menu".to_owned()), is_message: false });
    h.look();
    assert!(h.prompt().contains("No. use the menu"), "{}", h.prompt());

    let mut h = parked();
    h.answer(SessionEvent::Unanswered { why: NoAnswer::NoChannel });
    assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Rejected);
    h.look();
    assert!(h.prompt().contains("there is nobody to ask"), "{}", h.prompt());

    // The HostAgent's own action likewise, only that its rejection ends the round.
    let confirm = json!({"thought": "risky", "status": "CONFIRM", "function": "launch_application", "arguments": {"name": "x"}});
    let mut h = Harness::started(config());
    h.step(&confirm);
    h.answer(SessionEvent::Rejected { instruction: Some("open Calc".to_owned()), is_message: false });
    h.step(&confirm);
    h.answer(SessionEvent::Approved { scope: ApprovalScope::Once });
    h.succeeds(None, Value::Null);
    assert_eq!(h.session.host_status(), HostStatus::Continue);
    h.step(&confirm);
    h.answer(SessionEvent::Rejected { instruction: None, is_message: false });
    let outcome = h.outcome();
    assert_eq!(outcome.kind, OutcomeKind::Rejected);
    assert_eq!(outcome.reason, r#"launch_application(name="x") was not approved"#);
}

// docs/design/decisions.md, decision 4
#[test]
fn answers_and_missing_answers_continue_or_fail_as_the_question_says() {
    let asking = json!({"observation": "", "thought": "t", "status": "PENDING",
        "questions": [{"question": "Which file?", "required": true}]});
    let mut h = Harness::started(config());
    h.step(&asking);
    h.answer(SessionEvent::Answered { answers: vec!["sales.odt".to_owned()] });
    h.look();
    assert!(h.prompt().contains("Which file? → sales.odt"), "{}", h.prompt());
    h.reply(&asking.to_string());
    h.answer(SessionEvent::Unanswered { why: NoAnswer::NoChannel });
    h.look();
    assert!(h.prompt().contains("decide yourself and do not ask again"), "{}", h.prompt());
    let mut with_default = asking.clone();
    with_default["questions"][0]["default"] = json!("sales.odt");
    h.reply(&with_default.to_string());
    h.answer(SessionEvent::Unanswered { why: NoAnswer::TimedOut });
    h.look();
    assert!(h.prompt().contains("sales.odt (the default, because no answer came in time)"), "{}", h.prompt());
    // A required question without a default needs an answer.
    h.reply(&asking.to_string());
    h.answer(SessionEvent::Unanswered { why: NoAnswer::TimedOut });
    assert_eq!(h.outcome().kind, OutcomeKind::Failed);

    // An optional one can.
    let mut h = Harness::started(config());
    h.assign();
    h.step(&json!({"thought": "t", "status": "PENDING", "questions": ["Bars or lines?"]}));
    h.answer(SessionEvent::Unanswered { why: NoAnswer::TimedOut });
    h.look();
    assert!(h.prompt().contains("Bars or lines? → no answer came in time"), "{}", h.prompt());

    // With questions disabled nobody is asked.
    let mut h = Harness::started(SessionConfig { ask_questions: false, ..config() });
    h.step(&asking);
    h.look();
    assert!(h.prompt().contains("Which file? → nobody can be asked; decide yourself"), "{}", h.prompt());
}

// docs/design/decisions.md, decision 5
#[test]
fn round_fails_after_too_many_failed_subtasks_in_a_row() {
    let mut h = Harness::started(config());
    for count in 1..=3 {
        h.assign();
        h.step(&app("FAIL", &[]));
        assert_eq!(h.session.subtasks().len(), count);
    }
    let outcome = h.outcome();
    assert_eq!(outcome.kind, OutcomeKind::Failed);
    assert_eq!(outcome.reason, "3 sub-tasks in a row failed; the last: what I found");
}

// docs/design/decisions.md, decision 6
#[test]
fn broken_app_agent_is_archived_and_ends_the_round_in_error() {
    let mut h = Harness::started(config());
    h.assign();
    h.look();
    h.model_fails();
    assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Error);
    assert_eq!(h.outcome().kind, OutcomeKind::Error);
    assert_eq!(h.session.host_status(), HostStatus::Error);
    assert_eq!(h.session.tally().model_calls, 1 + 3, "failed requests count");
}

// docs/design/decisions.md, decision 8
#[test]
fn failed_selection_vetoes_assign_and_the_host_sees_why() {
    let mut h = Harness::started(config());
    h.step(&assign_reply("w1"));
    h.fails("the window does not take the focus");
    assert_eq!(h.session.host_status(), HostStatus::Continue);
    h.look();
    assert!(h.prompt().contains("the window does not take the focus"), "{}", h.prompt());
    // A target that does not exist never becomes a call.
    h.reply(&assign_reply("w9").to_string());
    h.look();
    assert!(h.prompt().contains("`w9` is not a target; the targets are w1 (sales.odt)"), "{}", h.prompt());
}

#[test]
fn second_subtask_on_a_window_starts_a_fresh_list_of_steps() {
    let mut h = Harness::started(config());
    h.assign();
    h.step(&app("FINISH", &["read_table"]));
    h.succeeds(None, json!("first"));
    h.assign();
    h.look();
    assert!(!h.prompt().contains("Your steps on this sub-task"), "{}", h.prompt());
    h.reply(&app("FINISH", &[]).to_string());
    assert_eq!(h.session.subtasks().len(), 2);
}

// docs/design/decisions.md, decision 9
#[test]
fn screenshots_in_a_row_are_bounded() {
    let mut h = Harness::started(config());
    h.assign();
    for _ in 0..=config().limits.screenshots_max {
        h.step(&app("SCREENSHOT", &[]));
    }
    h.look();
    assert!(h.prompt().contains("You took 4 screenshots without acting"), "{}", h.prompt());
}

// docs/design/decisions.md, decision 10
#[test]
fn failed_action_vetoes_finish_and_skips_the_rest() {
    let mut h = Harness::started(config());
    h.assign();
    h.step(&app("FINISH", &["click_element", "read_table"]));
    h.fails("nothing changed");
    assert!(h.session.subtasks().is_empty(), "the sub-task is not finished");
    h.look();
    let prompt = h.prompt();
    assert!(prompt.contains("FAILED, not_seen: nothing changed"), "{prompt}");
    assert!(prompt.contains("skipped, not run, because an earlier action"), "{prompt}");
    assert!(prompt.contains(r#"click_element(id="e3", name="Finish") → FAILED"#), "{prompt}");
}

// docs/design/decisions.md, decision 11
#[test]
fn budgets_end_the_round_before_they_are_exceeded() {
    let check = |limits: RoundLimits, expected: &str| {
        let mut h = Harness::started(SessionConfig { limits, ..config() });
        let outcome = loop {
            match h.effect() {
                Effect::Observe { .. } => h.look(),
                Effect::Ask { .. } => h.reply(
                    &json!({"observation": "", "thought": "t", "status": "CONTINUE",
                            "function": "launch_application", "arguments": {"try": h.session.tally().model_calls}})
                    .to_string(),
                ),
                Effect::Call { .. } => h.fails("no"),
                Effect::Finish { outcome } => break outcome,
                other @ (Effect::AwaitRequest
                | Effect::Rank { .. }
                | Effect::Retrieve { .. }
                | Effect::AskUser { .. }
                | Effect::AwaitApproval { .. }
                | Effect::Delegate { .. }) => {
                    panic!("{other:?}")
                }
            }
        };
        assert_eq!(outcome.kind, OutcomeKind::BudgetExhausted);
        assert_eq!(outcome.reason, expected);
        h
    };
    let base = RoundLimits::default;
    let h = check(RoundLimits { steps_max: 4, ..base() }, "the limit of 4 steps is reached");
    assert_eq!(h.session.tally().steps, 4);
    let h = check(RoundLimits { model_calls_max: 3, ..base() }, "the limit of 3 model calls is reached");
    assert_eq!(h.session.tally().model_calls, 3);
    check(RoundLimits { wall_ms_max: Some(90), ..base() }, "the time limit of 0 s is reached");
}

// docs/design/decisions.md, decision 2
#[test]
fn app_agent_refuses_assign_and_takes_error_as_fail() {
    let mut h = Harness::started(config());
    h.assign();
    // ASSIGN is no word of an AppAgent.
    h.step(&app("ASSIGN", &[]));
    assert!(
        h.prompt().contains("`ASSIGN` is not a status; use one of CONTINUE, SCREENSHOT"),
        "{}",
        h.prompt()
    );
    h.reply(&json!({"thought": "odd", "status": "error"}).to_string());
    let subtask = &h.session.subtasks()[0];
    assert_eq!(subtask.status, SubtaskStatus::Failed);
    assert_eq!(subtask.result, "the AppAgent reported ERROR: odd");
    h.look(); // the HostAgent goes on
}

// docs/design/decisions.md, decision 7
#[test]
fn final_status_is_never_left_or_rewritten() {
    let check = |reply: &Value, kind: OutcomeKind, status: HostStatus| {
        let mut h = Harness::started(config());
        h.step(reply);
        let outcome = h.outcome();
        assert_eq!((outcome.kind, h.session.host_status()), (kind, status));
        let pending = h.session.next().cloned();
        h.answer(SessionEvent::Stopped { reason: StopReason::User });
        assert_eq!(h.session.next().cloned(), pending, "a stop comes too late");
        let late = SessionEvent::Returned { result: deskhand_machine::command::CallResult::skipped() };
        let effect = pending.map(|record| record.id);
        assert!(h.session.apply(&EventRecord { effect, at_ms: 9_999, event: late }).is_err());
        assert_eq!(h.outcome(), outcome);
        h.answer(SessionEvent::acknowledged());
        assert_eq!(h.session.host_status(), status, "also after the clean-up");
        h.answer(SessionEvent::Requested { text: "the next".to_owned(), plan: None });
        assert_eq!(h.session.host_status(), HostStatus::Continue, "a new round starts over");
    };
    check(&host("FINISH"), OutcomeKind::Finished, HostStatus::Finish);
    check(&host("FAIL"), OutcomeKind::Failed, HostStatus::Fail);
    check(&host("ERROR"), OutcomeKind::Failed, HostStatus::Fail);
}

// docs/design/decisions.md, decision 9
#[test]
fn screenshot_marks_only_the_named_controls() {
    let mut h = Harness::started(config());
    h.assign();
    let marks = |h: &Harness| {
        let Effect::Observe { look } = h.effect() else { panic!("{:?}", h.effect()) };
        serde_json::to_value(look).unwrap().get("marks").cloned()
    };
    assert_eq!(marks(&h), None, "all of them at first");
    let mut reply = app("SCREENSHOT", &[]);
    reply["control_reannotate"] = json!(["e3", "nonsense", "e7"]);
    h.step(&reply);
    assert_eq!(marks(&h), Some(json!(["e3", "e7"])));
    h.step(&app("SCREENSHOT", &[]));
    assert_eq!(marks(&h), None);
    // However many are named, and whatever else is said: it acts on.
    h.step(&app("FINISH", &["read_table"]));
    h.succeeds(None, Value::Null);
    assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Finished);
}

// docs/design/decisions.md, decision 12
#[test]
fn round_accepts_capitalised_field_names() {
    let mut h = Harness::started(config());
    h.step(&json!({"Observation": "o", "Thought": "t", "Current Sub-Task": "press it", "ControlLabel": "w1",
        "Status": " assign ", "Plan": [], "Comment": "", "Questions": []}));
    h.succeeds(h.windows.first().cloned(), Value::Null);
    h.step(&json!({"Observation": "o", "Thought": "t", "ControlLabel": "e3", "ControlText": "Finish",
        "Function": "click_element", "Args": {}, "Status": "**Finish**"}));
    assert_eq!(h.command().to_line(), r#"click_element(id="e3", name="Finish")"#);
    h.succeeds(None, Value::Null);
    h.step(&json!({"Observation": "o", "Thought": "t", "Status": "FINISH", "Result": "pressed"}));
    assert_eq!((h.outcome().kind, h.outcome().reason.as_str()), (OutcomeKind::Finished, "pressed"));
}

// docs/design/decisions.md, decision 13
#[test]
fn ids_are_unique_across_kinds_and_the_wrong_kind_is_refused() {
    let mut h = Harness::started(SessionConfig { agents: vec![crate::resuming::oven()], ..config() });
    h.windows.push(window(2, "Untitled 1", "LibreOffice Calc"));
    h.look();
    let prompt = h.prompt();
    let ids: Vec<&str> =
        prompt.lines().filter_map(|line| line.strip_prefix("- [")?.split(']').next()).collect();
    assert_eq!(ids, ["w2", "w1", "a1"]);
    // An element's id where a window is meant is refused, and so is an agent that does not exist.
    h.reply(&assign_reply("e1").to_string());
    h.look();
    assert!(h.prompt().contains("`e1` is not a target"), "{}", h.prompt());
    h.reply(&assign_reply("a7").to_string());
    h.look();
    assert!(h.prompt().contains("`a7` is not a target; the targets are w1"), "{}", h.prompt());
}
