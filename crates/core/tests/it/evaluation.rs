//! A finished round is judged before its outcome is given out.

use deskhand_core::{
    evaluation::{Judge, Judgement},
    outcome::OutcomeKind,
    session::{Effect, Evaluate, Event, Limits, SessionConfig, StopReason, SubtaskStatus},
};
use serde_json::{Value, json};

use crate::harness::{Harness, app, config, host};

fn judging(repair: bool) -> SessionConfig {
    SessionConfig { evaluate: Some(Evaluate { repair }), ..config() }
}

fn verdict(complete: &str) -> Value {
    let scores = json!([{"name": "the table was read", "evaluation": complete}]);
    json!({"reason": format!("it says {complete}"), "sub_scores": scores, "complete": complete})
}

/// A round whose one sub-task is done; the HostAgent has said FINISH.
fn finished(config: SessionConfig) -> Harness {
    let mut harness = Harness::started(config);
    work(&mut harness);
    harness
}

fn work(harness: &mut Harness) {
    harness.assign();
    harness.step(&app("FINISH", &["click_element"]));
    harness.succeeds(None, Value::Null);
    harness.step(&host("FINISH"));
}

fn asking_agent(harness: &Harness) -> String {
    harness.session.next().unwrap().step.as_ref().unwrap().agent.to_string()
}

#[test]
fn without_the_setting_the_word_of_the_agents_is_taken() {
    let outcome = finished(config()).outcome();
    assert_eq!((outcome.kind, outcome.evaluation), (OutcomeKind::Finished, None));
}

#[test]
fn a_model_is_shown_the_record_and_judges() {
    let mut harness = finished(judging(true));
    assert_eq!(asking_agent(&harness), "EvaluationAgent");
    harness.look();
    let prompt = harness.prompt();
    for part in [
        "Read the table.",
        "read the sales table",
        "click_element",
        "the result",
        "the last sub-task finished: yes",
        "the last effects were seen: yes",
        "sales.odt",
    ] {
        assert!(prompt.contains(part), "{part} in {prompt}");
    }
    harness.reply(&verdict("yes").to_string());
    let outcome = harness.outcome();
    let evaluation = outcome.evaluation.unwrap();
    assert_eq!((outcome.kind, outcome.reason.as_str()), (OutcomeKind::Finished, "the result"));
    assert_eq!((evaluation.complete, evaluation.by), (Judgement::Yes, Judge::Model));
    let names: Vec<&str> = evaluation.sub_scores.iter().map(|score| score.name.as_str()).collect();
    assert_eq!(names, ["the last sub-task finished", "the last effects were seen", "the table was read"]);
    assert!(!evaluation.repaired);
    harness.answer(Event::Acknowledged);
    assert_eq!(harness.effect(), Effect::AwaitRequest);
}

#[test]
fn no_sends_the_work_back_once_and_the_second_no_stands() {
    let mut harness = finished(judging(true));
    harness.step(&verdict("no"));
    assert_eq!(asking_agent(&harness), "HostAgent");
    harness.look();
    let prompt = harness.prompt();
    assert!(prompt.contains("the request is not fulfilled: it says no"), "{prompt}");
    harness.reply(&host("FINISH").to_string());
    assert_eq!(asking_agent(&harness), "EvaluationAgent");
    harness.step(&verdict("no"));
    let outcome = harness.outcome();
    let evaluation = outcome.evaluation.unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Finished, "an evaluation rewrites no outcome");
    assert_eq!((evaluation.complete, evaluation.repaired), (Judgement::No, true));
}

#[test]
fn the_next_round_has_a_repair_of_its_own() {
    let mut harness = finished(judging(true));
    harness.step(&verdict("no"));
    harness.step(&host("FINISH"));
    harness.step(&verdict("yes"));
    assert_eq!(harness.outcome().evaluation.unwrap().complete, Judgement::Yes);
    harness.answer(Event::Acknowledged);
    harness.answer(Event::Requested { text: "And again.".to_owned(), plan: None });
    work(&mut harness);
    harness.step(&verdict("no"));
    assert_eq!(asking_agent(&harness), "HostAgent");
}

#[test]
fn without_repair_no_is_told_and_nothing_more() {
    let mut harness = finished(judging(false));
    harness.step(&verdict("no"));
    let outcome = harness.outcome();
    assert_eq!(outcome.kind, OutcomeKind::Finished);
    assert_eq!(outcome.evaluation.unwrap().complete, Judgement::No);
}

#[test]
fn a_failure_after_the_repair_keeps_the_judgement_that_caused_it() {
    let mut harness = finished(judging(true));
    harness.step(&verdict("no"));
    harness.step(&host("FAIL"));
    let outcome = harness.outcome();
    assert_eq!(outcome.kind, OutcomeKind::Failed);
    assert_eq!(outcome.evaluation.unwrap().complete, Judgement::No);
}

#[test]
fn rules_say_no_without_a_model_when_the_last_sub_task_failed() {
    let mut harness = Harness::started(judging(false));
    harness.assign();
    harness.step(&app("FAIL", &[]));
    harness.step(&host("FINISH"));
    let evaluation = harness.outcome().evaluation.unwrap();
    assert_eq!((evaluation.complete, evaluation.by), (Judgement::No, Judge::Rules));
    assert!(evaluation.reason.contains(&SubtaskStatus::Failed.to_string()), "{}", evaluation.reason);
}

#[test]
fn a_last_effect_that_was_not_seen_makes_the_rules_unsure() {
    let mut harness = Harness::started(judging(true));
    harness.assign();
    harness.step(&app("FINISH", &["click_element"]));
    harness.answer(Event::Returned {
        result: deskhand_core::command::CallResult {
            status: deskhand_core::command::CallStatus::Success,
            ..deskhand_core::command::CallResult::failure(
                Some(deskhand_core::command::Verdict::Unknown),
                "nobody can tell",
            )
        },
    });
    harness.step(&host("FINISH"));
    harness.look();
    assert!(harness.prompt().contains("the last effects were seen: unsure"), "{}", harness.prompt());
}

#[test]
fn a_model_that_cannot_judge_leaves_it_unsure() {
    let mut harness = finished(judging(true));
    harness.look();
    harness.model_fails();
    let evaluation = harness.outcome().evaluation.unwrap();
    assert_eq!((evaluation.complete, evaluation.by), (Judgement::Unsure, Judge::Rules));

    let mut harness = finished(judging(true));
    harness.look();
    harness.reply("I think so.");
    harness.reply(&json!({"reason": "r", "complete": "perhaps"}).to_string());
    assert!(harness.prompt().contains("yes, no, unsure"), "it is told what is wrong");
    harness.reply("Still no JSON.");
    let evaluation = harness.outcome().evaluation.unwrap();
    assert_eq!(evaluation.complete, Judgement::Unsure);
    assert!(evaluation.reason.contains("was invalid"), "{}", evaluation.reason);
}

#[test]
fn a_desktop_that_is_gone_is_judged_by_the_record() {
    let mut harness = finished(judging(true));
    harness.answer(Event::ObserveFailed {
        failure: deskhand_core::observation::ObserveFailure {
            window_gone: false,
            desktop_gone: true,
            message: "the display is gone".to_owned(),
        },
    });
    assert!(harness.prompt().contains("The desktop could not be observed."));
    harness.reply(&verdict("yes").to_string());
    assert_eq!(harness.outcome().evaluation.unwrap().complete, Judgement::Yes);
}

#[test]
fn a_budget_that_is_used_up_ends_no_finished_round() {
    let used = finished(judging(true)).session.tally().model_calls;
    for limits in [
        Limits { model_calls_max: used, ..Limits::default() },
        Limits { steps_max: finished(config()).session.tally().steps, ..Limits::default() },
    ] {
        let outcome = finished(SessionConfig { limits, ..judging(true) }).outcome();
        assert_eq!(outcome.kind, OutcomeKind::Finished);
        let evaluation = outcome.evaluation.unwrap();
        assert_eq!(evaluation.complete, Judgement::Unsure);
        assert!(evaluation.reason.contains("limit"), "{}", evaluation.reason);
    }
    // There is room to judge, and none to repair.
    let limits = Limits { model_calls_max: used + 1, ..Limits::default() };
    let mut harness = finished(SessionConfig { limits, ..judging(true) });
    harness.step(&verdict("no"));
    assert_eq!(harness.outcome().evaluation.unwrap().complete, Judgement::No);
}

#[test]
fn a_round_that_is_stopped_while_it_is_judged_was_finished() {
    let mut harness = finished(judging(true));
    harness.look();
    harness.answer(Event::Stopped { reason: StopReason::User });
    let outcome = harness.outcome();
    assert_eq!(outcome.kind, OutcomeKind::Finished);
    assert_eq!(outcome.evaluation.unwrap().complete, Judgement::Unsure);
}

#[test]
fn a_session_that_is_resumed_while_it_is_judged_asks_again() {
    let mut harness = finished(judging(true));
    harness.look();
    let before = harness.session.next().cloned();
    harness.answer(Event::Resumed { desktop_kept: true });
    assert_eq!(harness.session.next().cloned(), before);
    harness.reply(&verdict("yes").to_string());
    assert_eq!(harness.outcome().evaluation.unwrap().complete, Judgement::Yes);
}

#[test]
fn the_same_events_lead_to_the_same_judgement() {
    let mut harness = finished(judging(true));
    harness.step(&verdict("no"));
    harness.step(&host("FINISH"));
    harness.step(&verdict("yes"));
    let mut session =
        deskhand_core::session::Session::new(judging(true), deskhand_core::prompt::PromptSet::default());
    for (wanted, event) in &harness.history {
        assert_eq!(serde_json::to_string(&session.next()).unwrap(), *wanted);
        let text = serde_json::to_string(&session).unwrap();
        session = serde_json::from_str(&text).unwrap();
        session.apply(event).unwrap();
    }
    assert_eq!(session, harness.session);
}
