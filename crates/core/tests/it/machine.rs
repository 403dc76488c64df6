//! Flows of the session machine, each from a request to an outcome.

use deskhand_core::{
    agent::AgentReport,
    outcome::OutcomeKind,
    prompt::PromptSet,
    session::{
        ApprovalScope, Effect, Event, EventRecord, Limits, NoAnswer, Session, StopReason, SubtaskStatus,
    },
    states::HostStatus,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Harness, app, assign_reply, config, host, window};

#[test]
fn a_request_goes_through_an_app_agent_to_finish() {
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
        (subtask.status, subtask.agent.as_str()),
        (SubtaskStatus::Finished, "AppAgent/libreoffice-writer")
    );
    h.look();
    assert!(h.prompt().contains(r#"[["Region","Units"]]"#), "the host sees what came of it: {}", h.prompt());
    h.reply(&host("FINISH").to_string());
    let outcome = h.outcome();
    assert_eq!((outcome.kind, outcome.reason.as_str()), (OutcomeKind::Finished, "the result"));
    h.answer(Event::Acknowledged);
    assert_eq!(h.effect(), Effect::AwaitRequest);
    h.answer(Event::Ended);
    assert!(h.session.next().is_none());
}

#[test]
fn launching_with_assign_gives_the_new_window_the_subtask() {
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
fn decision_8_a_failed_selection_vetoes_assign_and_the_host_knows_why() {
    let mut h = Harness::started(config());
    h.step(&assign_reply("w1"));
    h.fails("the window does not take the focus");
    assert_eq!(h.session.host_status(), HostStatus::Continue);
    h.look();
    assert!(h.prompt().contains("the window does not take the focus"), "{}", h.prompt());
    // A target that does not exist never becomes a call.
    h.reply(&assign_reply("w9").to_string());
    h.look();
    assert!(h.prompt().contains("`w9` is no target; the targets are w1 (sales.odt)"), "{}", h.prompt());
}

#[test]
fn decision_8_the_agent_of_a_window_is_cached_and_keeps_its_memory() {
    let mut h = Harness::started(config());
    h.assign();
    h.step(&app("FINISH", &["read_table"]));
    h.succeeds(None, json!("first"));
    h.assign();
    h.look();
    // The second sub-task starts a fresh list of steps but the same agent goes on.
    assert!(!h.prompt().contains("Your steps on this sub-task"), "{}", h.prompt());
    h.reply(&app("FINISH", &[]).to_string());
    assert_eq!(h.session.subtasks().len(), 2);
}

#[test]
fn decision_10_a_failed_action_vetoes_finish_and_skips_the_rest() {
    let mut h = Harness::started(config());
    h.assign();
    h.step(&app("FINISH", &["click_element", "read_table"]));
    h.fails("nothing changed");
    assert!(h.session.subtasks().is_empty(), "the sub-task is not finished");
    h.look();
    let prompt = h.prompt();
    assert!(prompt.contains("FAILED [effect: not_seen] nothing changed"), "{prompt}");
    assert!(prompt.contains("skipped not run, because an earlier action"), "{prompt}");
    assert!(prompt.contains(r#"on push button "Finish""#), "{prompt}");
}

#[test]
fn decision_5_a_failed_subtask_goes_back_to_the_host_bounded() {
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

#[test]
fn a_closed_window_fails_the_subtask_and_evicts_its_agent() {
    let mut h = Harness::started(config());
    h.assign();
    h.windows.clear();
    h.look();
    assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Failed);
    h.look();
    let prompt = h.prompt();
    assert!(prompt.contains("window w1 was closed") && prompt.contains("No window is open"), "{prompt}");
}

#[test]
fn decision_6_a_model_that_is_down_is_an_error_and_archives_the_subtask() {
    let mut h = Harness::started(config());
    h.assign();
    h.look();
    h.model_fails();
    assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Error);
    assert_eq!(h.outcome().kind, OutcomeKind::Error);
    assert_eq!(h.session.host_status(), HostStatus::Error);
    assert_eq!(h.session.tally().model_calls, 1 + 3, "failed requests count");
}

#[test]
fn an_unusable_reply_is_asked_for_again_with_the_reason_then_it_is_an_error() {
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
fn decision_1_a_model_that_says_error_is_taken_as_fail() {
    let mut h = Harness::started(config());
    h.step(&json!({"observation": "", "thought": "odd", "status": " Error. "}));
    let outcome = h.outcome();
    assert_eq!(
        (outcome.kind, outcome.reason.as_str()),
        (OutcomeKind::Failed, "the HostAgent said ERROR: odd")
    );
}

#[test]
fn decision_3_an_action_to_confirm_is_parked_and_only_an_approval_runs_it() {
    let parked = || {
        let mut h = Harness::started(config());
        h.assign();
        h.step(&app("CONFIRM", &["click_element"]));
        let Effect::AwaitApproval { approval } = h.effect() else { panic!("{:?}", h.effect()) };
        assert_eq!(approval.commands[0].tool, "click_element");
        h
    };
    let mut h = parked();
    h.answer(Event::Approved { scope: ApprovalScope::Once });
    assert_eq!(h.command().tool, "click_element");
    h.succeeds(None, Value::Null);
    h.look(); // CONTINUE

    let mut h = parked();
    h.answer(Event::Rejected { instruction: None });
    assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Rejected);
    h.look(); // the host goes on

    let mut h = parked();
    h.answer(Event::Rejected { instruction: Some("use the menu".to_owned()) });
    h.look();
    assert!(h.prompt().contains("No. use the menu"), "{}", h.prompt());

    let mut h = parked();
    h.answer(Event::Unanswered { why: NoAnswer::NoChannel });
    assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Rejected);
}

#[test]
fn decision_4_questions_go_to_the_user_and_the_work_goes_on() {
    let asking = json!({"observation": "", "thought": "t", "status": "PENDING",
        "questions": [{"question": "Which file?", "required": true}]});
    let mut h = Harness::started(config());
    h.step(&asking);
    h.answer(Event::Answered { answers: vec!["sales.odt".to_owned()] });
    h.look();
    assert!(h.prompt().contains("Which file? → sales.odt"), "{}", h.prompt());
    h.reply(&asking.to_string());
    h.answer(Event::Unanswered { why: NoAnswer::NoChannel });
    h.look();
    assert!(h.prompt().contains("decide yourself and do not ask again"), "{}", h.prompt());
    let mut with_default = asking.clone();
    with_default["questions"][0]["default"] = json!("sales.odt");
    h.reply(&with_default.to_string());
    h.answer(Event::Unanswered { why: NoAnswer::TimedOut });
    h.look();
    assert!(h.prompt().contains("sales.odt (the default, because no answer came in time)"), "{}", h.prompt());
    h.reply(&asking.to_string());
    h.answer(Event::Unanswered { why: NoAnswer::TimedOut });
    assert_eq!(h.outcome().kind, OutcomeKind::Failed);
}

#[test]
fn decision_9_looking_again_is_bounded() {
    let mut h = Harness::started(config());
    h.assign();
    for _ in 0..=config().limits.screenshots_max {
        h.step(&app("SCREENSHOT", &[]));
    }
    h.look();
    assert!(h.prompt().contains("You looked 4 times without acting"), "{}", h.prompt());
}

#[test]
fn an_agent_that_repeats_itself_is_told_and_then_stopped() {
    let mut h = Harness::started(config());
    h.assign();
    for count in 1..=4 {
        h.look();
        assert_eq!(
            h.prompt().contains(&format!("exactly the same {} times", count - 1)),
            count > 2,
            "{count}"
        );
        h.reply(&app("CONTINUE", &["click_element"]).to_string());
        h.succeeds(None, Value::Null);
    }
    let subtask = &h.session.subtasks()[0];
    assert_eq!(subtask.status, SubtaskStatus::Failed);
    assert_eq!(subtask.result, "the same actions were taken 4 times in a row and nothing changed");

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
fn a_tool_that_does_not_exist_never_becomes_a_call() {
    let mut h = Harness::started(config());
    h.assign();
    h.step(&app("FINISH", &["click_elements"]));
    h.look();
    assert!(h.prompt().contains("did you mean `click_element`?"), "{}", h.prompt());
}

#[test]
fn decision_11_budgets_end_the_round_before_they_are_exceeded() {
    let check = |limits: Limits, expected: &str| {
        let mut h = Harness::started(deskhand_core::session::SessionConfig { limits, ..config() });
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
    let base = Limits::default;
    let h = check(Limits { steps_max: 4, ..base() }, "the limit of 4 steps is reached");
    assert_eq!(h.session.tally().steps, 4);
    let h = check(Limits { model_calls_max: 3, ..base() }, "the limit of 3 model calls is reached");
    assert_eq!(h.session.tally().model_calls, 3);
    check(Limits { tokens_max: Some(300), ..base() }, "the limit of 300 tokens is reached (330 used)");
    check(Limits { wall_ms_max: Some(90), ..base() }, "the time limit of 0 s is reached");
}

#[test]
fn a_stop_ends_the_round_at_once_and_nothing_is_wanted_after_it() {
    let mut h = Harness::started(config());
    h.assign();
    h.step(&app("CONTINUE", &["click_element"]));
    let out = h.session.next().unwrap().id;
    h.answer(Event::Stopped { reason: StopReason::User });
    assert_eq!(h.outcome().kind, OutcomeKind::Cancelled);
    let late = Event::Approved { scope: ApprovalScope::Once };
    let error = h.session.apply(&EventRecord { effect: Some(out), at_ms: 9_999, event: late });
    assert!(error.is_err(), "a late answer changes nothing");
    assert_eq!(h.outcome().kind, OutcomeKind::Cancelled);
}

#[test]
fn the_machine_survives_serialisation_at_every_effect() {
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
    h.answer(Event::Approved { scope: ApprovalScope::Once });
    reload(&mut h);
    h.succeeds(None, Value::Null);
    reload(&mut h);
}

/// One answer for whatever is wanted, chosen by a number.
fn any_answer(h: &mut Harness, choice: u8) {
    match h.effect() {
        Effect::AwaitRequest => h.answer(Event::Requested { text: "again".to_owned(), plan: None }),
        Effect::Observe { .. } if choice.is_multiple_of(13) => h.answer(Event::ObserveFailed {
            failure: deskhand_core::observation::ObserveFailure {
                window_gone: choice.is_multiple_of(2),
                desktop_gone: choice.is_multiple_of(3),
                message: "gone".to_owned(),
            },
        }),
        Effect::Observe { .. } => h.look(),
        Effect::Ask { request } => {
            let words =
                ["CONTINUE", "ASSIGN", "FINISH", "FAIL", "PENDING", "CONFIRM", "ERROR", "SCREENSHOT", "x"];
            let word = words[usize::from(choice) % words.len()];
            let reply = json!({
                "thought": "t", "status": word, "current_subtask": "s", "control_label": "w1",
                "questions": ["q"],
                "action": if word == "SCREENSHOT" { json!([]) } else { app(word, &["click_element"])["action"].clone() },
            });
            let _ = request;
            if choice == 255 { h.model_fails() } else { h.reply(&reply.to_string()) }
        }
        Effect::Call { .. } if choice.is_multiple_of(4) => h.fails("no effect"),
        Effect::Call { .. } => {
            let window = h.windows.first().cloned();
            h.succeeds(window, Value::Null);
        }
        Effect::AskUser { .. } if choice.is_multiple_of(2) => h.answer(Event::Answered { answers: vec![] }),
        Effect::AskUser { .. } => h.answer(Event::Unanswered { why: NoAnswer::TimedOut }),
        Effect::AwaitApproval { .. } if choice.is_multiple_of(2) => {
            h.answer(Event::Approved { scope: ApprovalScope::Once });
        }
        Effect::AwaitApproval { .. } => h.answer(Event::Rejected { instruction: None }),
        Effect::Delegate { .. } => h.answer(Event::Delegated {
            report: AgentReport { status: SubtaskStatus::Finished, result: "done".to_owned() },
        }),
        Effect::Finish { .. } => h.answer(Event::Acknowledged),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever comes back, every round ends in an outcome within its budget, nothing is executed that waits
    /// for an approval, and folding the same events again gives the same effects.
    #[test]
    fn every_run_ends_in_an_outcome_and_replays_equal(choices in proptest::collection::vec(any::<u8>(), 1..200)) {
        let limits = Limits { steps_max: 12, model_calls_max: 20, ..Limits::default() };
        let config = deskhand_core::session::SessionConfig { limits, ..config() };
        let folded = config.clone();
        let mut h = Harness::started(config);
        for choice in choices {
            let before = h.effect();
            any_answer(&mut h, choice);
            let approved = matches!(before, Effect::AwaitApproval { .. }) && choice.is_multiple_of(2);
            if matches!(h.effect(), Effect::Call { .. }) && matches!(before, Effect::AwaitApproval { .. }) {
                prop_assert!(approved, "an unapproved action was wanted");
            }
            prop_assert!(h.session.tally().steps <= 12);
            // Requests are counted when they come back; one refused connection may hold three of them.
            prop_assert!(h.session.tally().model_calls <= 20 + 2);
            if matches!(h.effect(), Effect::Finish { .. }) {
                prop_assert!(h.session.host_status().is_terminal() || h.session.host_status() == HostStatus::Fail);
            }
        }
        let mut rounds = 0;
        while rounds < 2_000 && !matches!(h.effect(), Effect::Finish { .. } | Effect::AwaitRequest) {
            any_answer(&mut h, 5);
            rounds += 1;
        }
        prop_assert!(rounds < 2_000, "the round never ended");
        let mut again = Session::new(folded, PromptSet::default());
        for (wanted, event) in &h.history {
            prop_assert_eq!(&serde_json::to_string(&again.next()).unwrap(), wanted);
            again.apply(event).unwrap();
        }
    }
}
