//! Evaluation of finished rounds.

use deskhand_machine::{
    evaluation::{Judge, Judgement},
    outcome::OutcomeKind,
    session::{Effect, Evaluate, RoundLimits, SessionConfig, SessionEvent, StopReason, SubtaskStatus},
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
fn without_evaluation_the_agents_result_stands() {
    let outcome = finished(config()).outcome();
    assert_eq!((outcome.kind, outcome.evaluation), (OutcomeKind::Finished, None));
}

#[test]
fn model_judges_by_the_record() {
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
    harness.answer(SessionEvent::acknowledged());
    assert_eq!(harness.effect(), Effect::AwaitRequest);
}

#[test]
fn first_no_returns_the_work_and_second_no_stands() {
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
fn each_round_has_its_own_repair() {
    let mut harness = finished(judging(true));
    harness.step(&verdict("no"));
    harness.step(&host("FINISH"));
    harness.step(&verdict("yes"));
    assert_eq!(harness.outcome().evaluation.unwrap().complete, Judgement::Yes);
    harness.answer(SessionEvent::acknowledged());
    harness.answer(SessionEvent::Requested { text: "And again.".to_owned(), plan: None });
    work(&mut harness);
    harness.step(&verdict("no"));
    assert_eq!(asking_agent(&harness), "HostAgent");
}

#[test]
fn without_repair_no_is_only_reported() {
    let mut harness = finished(judging(false));
    harness.step(&verdict("no"));
    let outcome = harness.outcome();
    assert_eq!(outcome.kind, OutcomeKind::Finished);
    assert_eq!(outcome.evaluation.unwrap().complete, Judgement::No);
}

#[test]
fn failure_after_the_repair_keeps_its_judgement() {
    let mut harness = finished(judging(true));
    harness.step(&verdict("no"));
    harness.step(&host("FAIL"));
    let outcome = harness.outcome();
    assert_eq!(outcome.kind, OutcomeKind::Failed);
    assert_eq!(outcome.evaluation.unwrap().complete, Judgement::No);
}

#[test]
fn failed_last_subtask_is_judged_no_without_a_model() {
    let mut harness = Harness::started(judging(false));
    harness.assign();
    harness.step(&app("FAIL", &[]));
    harness.step(&host("FINISH"));
    let evaluation = harness.outcome().evaluation.unwrap();
    assert_eq!((evaluation.complete, evaluation.by), (Judgement::No, Judge::Rules));
    assert!(evaluation.reason.contains(&SubtaskStatus::Failed.to_string()), "{}", evaluation.reason);
}

#[test]
fn unseen_last_effect_is_judged_unsure_by_the_rules() {
    let mut harness = Harness::started(judging(true));
    harness.assign();
    harness.step(&app("FINISH", &["click_element"]));
    harness.answer(SessionEvent::Returned {
        result: deskhand_machine::command::CallResult {
            status: deskhand_machine::command::CallStatus::Success,
            ..deskhand_machine::command::CallResult::failure(
                Some(deskhand_ui::action::Verdict::Unknown),
                "nobody can tell",
            )
        },
    });
    harness.step(&host("FINISH"));
    harness.look();
    assert!(harness.prompt().contains("the last effects were seen: unsure"), "{}", harness.prompt());
}

#[test]
fn failed_model_call_is_judged_unsure() {
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
fn without_a_desktop_the_record_is_judged() {
    let mut harness = finished(judging(true));
    harness.answer(SessionEvent::ObserveFailed {
        failure: deskhand_machine::observation::ObserveFailure {
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
fn exhausted_budget_does_not_change_a_finished_round() {
    let used = finished(judging(true)).session.tally().model_calls;
    for limits in [
        RoundLimits { model_calls_max: used, ..RoundLimits::default() },
        RoundLimits { steps_max: finished(config()).session.tally().steps, ..RoundLimits::default() },
    ] {
        let outcome = finished(SessionConfig { limits, ..judging(true) }).outcome();
        assert_eq!(outcome.kind, OutcomeKind::Finished);
        let evaluation = outcome.evaluation.unwrap();
        assert_eq!(evaluation.complete, Judgement::Unsure);
        assert!(evaluation.reason.contains("limit"), "{}", evaluation.reason);
    }
    // There is room to judge, and none to repair.
    let limits = RoundLimits { model_calls_max: used + 1, ..RoundLimits::default() };
    let mut harness = finished(SessionConfig { limits, ..judging(true) });
    harness.step(&verdict("no"));
    assert_eq!(harness.outcome().evaluation.unwrap().complete, Judgement::No);
}

#[test]
fn stop_during_evaluation_keeps_the_round_finished() {
    let mut harness = finished(judging(true));
    harness.look();
    harness.answer(SessionEvent::Stopped { reason: StopReason::User });
    let outcome = harness.outcome();
    assert_eq!(outcome.kind, OutcomeKind::Finished);
    assert_eq!(outcome.evaluation.unwrap().complete, Judgement::Unsure);
}

#[test]
fn resume_during_evaluation_asks_again() {
    let mut harness = finished(judging(true));
    harness.look();
    let before = harness.session.next().cloned();
    harness.answer(SessionEvent::Resumed { desktop_kept: true });
    assert_eq!(harness.session.next().cloned(), before);
    harness.reply(&verdict("yes").to_string());
    assert_eq!(harness.outcome().evaluation.unwrap().complete, Judgement::Yes);
}

#[test]
fn evaluation_replays_equally() {
    let mut harness = finished(judging(true));
    harness.step(&verdict("no"));
    harness.step(&host("FINISH"));
    harness.step(&verdict("yes"));
    let mut session = deskhand_machine::session::Session::new(
        judging(true),
        deskhand_machine::prompt::PromptSet::default(),
    );
    for (wanted, event) in &harness.history {
        assert_eq!(serde_json::to_string(&session.next()).unwrap(), *wanted);
        let text = serde_json::to_string(&session).unwrap();
        session = serde_json::from_str(&text).unwrap();
        session.apply(event).unwrap();
    }
    assert_eq!(session, harness.session);
}
