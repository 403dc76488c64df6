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
fn an_agent_that_repeats_itself_is_told_then_must_take_another_way_and_is_stopped() {
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
    assert!(prompt.contains("[effect: refused] not run: the same was done 2 times already"), "{prompt}");
    assert!(prompt.contains("There are also: read_table."), "{prompt}");
    h.reply(&same.to_string());
    let subtask = &h.session.subtasks()[0];
    assert_eq!(subtask.status, SubtaskStatus::Failed);
    assert_eq!(subtask.result, "the same actions were wanted 4 times in a row and nothing changed");

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
fn a_tool_that_does_not_exist_never_becomes_a_call() {
    let mut h = Harness::started(config());
    h.assign();
    h.step(&app("FINISH", &["click_elements"]));
    h.look();
    assert!(h.prompt().contains("did you mean `click_element`?"), "{}", h.prompt());
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
