//! The number of model calls in a round, and plans.

use deskhand_machine::{
    command::{CallResult, CallStatus},
    outcome::OutcomeKind,
    provenance::Provenance,
    session::{Effect, FollowerPlan, SessionConfig, SessionEvent, SubtaskStatus, Verify},
    states::HostStatus,
};
use deskhand_ui::{
    Role,
    action::{
        ActionKind, ActionOutcome, ActionProof, Aim, Button, CallReport, ElementRef, Evidence, Uncertainty,
        Verdict,
    },
    ids::ElementId,
};
use serde_json::{Value, json};

use crate::harness::{Harness, app, assign_reply, config, host, window};

fn verifying(verify: Verify) -> SessionConfig {
    let mut config = SessionConfig { verify, ..config() };
    // Reading changes nothing.
    config.app_tools[1].acts = false;
    config
}

/// The HostAgent hands the whole request to Writer; nothing follows.
fn assigns_all(h: &mut Harness, next: Value) {
    let mut reply = assign_reply("w1");
    reply["next"] = next;
    h.step(&reply);
    h.succeeds(h.windows.first().cloned(), Value::Null);
}

fn finishing(tool: &str, expect: &str) -> Value {
    json!({"thought": "t", "status": "FINISH", "result": "pressed",
        "action": [{"function": tool, "arguments": {"id": "e3"}, "expect": expect}]})
}

/// A click on "Finish" that changed the title to `shown` or had an unknown effect, or a read of `shown`.
pub(crate) fn returns(h: &mut Harness, effect: Option<Verdict>, shown: &str) {
    let element =
        ElementRef { id: ElementId(3), role: Role::PUSH_BUTTON, name: "Finish".to_owned(), instead_of: None };
    let click = |evidence: Evidence| -> CallReport {
        let act = ActionKind::Click { button: Button::Left, count: 1, held: Vec::new() };
        ActionOutcome::new(act, Aim::Element { element: element.clone() }, evidence).into()
    };
    let (report, output) = match effect {
        Some(Verdict::Seen) => {
            (click(ActionProof::TitleChanged { title: shown.to_owned() }.into()), Value::Null)
        }
        Some(_) => (click(Uncertainty::Pixels { in_picture: false }.into()), Value::Null),
        None => (CallReport::text("it was read"), json!({ "text": shown })),
    };
    let success = CallResult { status: CallStatus::Success, effect, ..CallResult::failure(None, "") };
    h.answer(SessionEvent::Returned { result: CallResult { report, output, ..success } });
}

const SEEN: Option<Verdict> = Some(Verdict::Seen);

#[test]
fn verified_single_subtask_takes_two_model_calls() {
    let run = |verify: Verify| {
        let mut h = Harness::started(verifying(verify));
        assigns_all(&mut h, json!([]));
        h.step(&finishing("click_element", "the wizard closed"));
        returns(&mut h, SEEN, "the wizard  closed");
        if verify == Verify::Always {
            h.step(&host("FINISH"));
        }
        let outcome = h.outcome();
        assert_eq!(outcome.kind, OutcomeKind::Finished, "{}", outcome.reason);
        assert_eq!(h.session.host_status(), HostStatus::Finish);
        assert_eq!(h.session.subtasks()[0].status, SubtaskStatus::Finished);
        (h.session.tally().model_calls, outcome.reason)
    };
    assert_eq!(run(Verify::Always), (3, "the result".to_owned()));
    assert_eq!(run(Verify::Auto), (2, "pressed".to_owned()));
    assert_eq!(run(Verify::Never), (2, "pressed".to_owned()));
}

#[test]
fn unverified_result_goes_to_the_host() {
    let check = |next: Value, step: &dyn Fn(&mut Harness)| {
        let mut h = Harness::started(verifying(Verify::Auto));
        assigns_all(&mut h, next);
        step(&mut h);
        h.look();
        assert!(h.prompt().contains("# Sub-tasks so far"), "{}", h.prompt());
        h.reply(&host("FINISH").to_string());
        assert_eq!(h.outcome().reason, "the result");
    };
    let all = || json!([]);
    // Nothing expected; something else came; what was asked for is no proof that it came.
    check(all(), &|h| {
        h.step(&app("FINISH", &["click_element"]));
        returns(h, SEEN, "it closed");
    });
    check(all(), &|h| {
        h.step(&finishing("click_element", "it closed"));
        returns(h, SEEN, "the text changed");
    });
    check(all(), &|h| {
        h.step(&finishing("click_element", "finish"));
        returns(h, SEEN, "the text changed");
    });
    // An effect that was not observed.
    check(all(), &|h| {
        h.step(&finishing("click_element", "it closed"));
        returns(h, Some(Verdict::Unknown), "it closed");
    });
    check(all(), &|h| {
        h.step(&finishing("click_element", "it closed"));
        returns(h, None, "it closed");
    });
    // No action at all, and a HostAgent that did not say what follows.
    check(all(), &|h| h.step(&app("FINISH", &[])));
    check(Value::Null, &|h| {
        h.step(&finishing("click_element", "it closed"));
        returns(h, SEEN, "it closed");
    });
}

/// Runs a sub-task that two others follow, and returns whether the next one was assigned without the HostAgent, else the
/// notice in its prompt.
fn goes_on(step: &dyn Fn(&mut Harness)) -> Result<(), String> {
    let mut h = Harness::started(verifying(Verify::Auto));
    assigns_all(&mut h, json!([{"subtask": "next one", "control_label": "w1"}]));
    step(&mut h);
    if matches!(h.effect(), Effect::Call { .. }) {
        return Ok(());
    }
    h.look();
    let prompt = h.prompt();
    let notice = prompt.split("# Notice").nth(1).unwrap_or_default();
    Err(notice.split('#').next().unwrap().trim().to_owned())
}

#[test]
fn an_earlier_failure_that_was_repaired_is_no_doubt() {
    let repaired = goes_on(&|h| {
        h.step(&app("CONTINUE", &["click_element"]));
        h.fails("14 of 15 cells");
        h.step(&app("CONTINUE", &["click_element"]));
        returns(h, Some(Verdict::Unknown), "sent");
        h.step(&finishing("click_element", "it closed"));
        returns(h, SEEN, "it closed");
    });
    assert_eq!(repaired, Ok(()));
    // The step that met its expectation was the last one that acted.
    let looked_again = goes_on(&|h| {
        let mut reply = finishing("click_element", "it closed");
        reply["status"] = "CONTINUE".into();
        h.step(&reply);
        returns(h, SEEN, "it closed");
        h.step(&app("FINISH", &[]));
    });
    assert_eq!(looked_again, Ok(()));
}

#[test]
fn an_expectation_holds_for_any_action_of_its_step() {
    let reply = json!({"thought": "t", "status": "FINISH", "result": "pressed", "action": [
        {"function": "click_element", "arguments": {"id": "e3"}},
        {"function": "read_table", "arguments": {"id": "e3"}, "expect": "it closed"}]});
    let met = goes_on(&|h| {
        h.step(&reply);
        returns(h, SEEN, "it closed");
        returns(h, None, "rows");
    });
    assert_eq!(met, Ok(()));
}

#[test]
fn the_host_is_told_why_it_was_asked() {
    let check = |expect: &str, effect: Option<Verdict>, notice: &str| {
        let asked = goes_on(&|h| {
            h.step(&finishing("click_element", expect));
            returns(h, effect, "Untitled 2");
        });
        let prefix = "The sub-tasks you planned with `next` wait for you to check the last one: ";
        assert_eq!(asked, Err(format!("{prefix}{notice}.")));
    };
    check("report.odt", SEEN, "“report.odt” was expected; its last actions show: title Untitled 2");
    let unknown = "the effect of click_element(id=\"e3\") was not seen";
    check("Untitled 2", Some(Verdict::Unknown), unknown);
}

#[test]
fn planned_subtasks_are_assigned_without_a_model_call() {
    let start = || {
        let mut h = Harness::started(verifying(Verify::Auto));
        assigns_all(
            &mut h,
            json!([{"subtask": "enter it", "launch": "LibreOffice Calc"}, {"subtask": "close", "control_label": "w1"}]),
        );
        h.step(&finishing("read_table", "Region"));
        returns(&mut h, None, "15 cells: Region, Units");
        assert_eq!(h.command().to_line(), r#"launch_application(name="LibreOffice Calc")"#);
        h
    };
    let mut h = start();
    h.windows.push(window(2, "Untitled 1", "LibreOffice Calc"));
    h.succeeds(Some(h.windows[1].clone()), Value::Null);
    h.look();
    assert!(h.prompt().contains("enter it"), "{}", h.prompt());
    h.reply(&finishing("click_element", "entered").to_string());
    returns(&mut h, SEEN, "entered");
    assert_eq!(h.command().to_line(), r#"select_application_window(id="w1")"#);
    h.succeeds(h.windows.first().cloned(), Value::Null);
    h.step(&finishing("click_element", "closed"));
    returns(&mut h, SEEN, "closed");
    assert_eq!(h.outcome().kind, OutcomeKind::Finished);
    assert_eq!(h.session.tally().model_calls, 4, "one for each sub-task, one of the HostAgent");

    // A failed launch goes to the HostAgent, and the planned sub-tasks are dropped.
    let mut h = start();
    h.fails("there is no such application");
    h.look();
    assert!(h.prompt().contains("there is no such application"), "{}", h.prompt());
    h.reply(&host("FAIL").to_string());
    assert_eq!(h.outcome().kind, OutcomeKind::Failed);
}

fn following(object: Option<&str>, verify: Verify) -> Harness {
    let plan = FollowerPlan {
        object: object.map(str::to_owned),
        steps: vec!["press it".to_owned(), "press it again".to_owned()],
        ..FollowerPlan::of_file(Provenance::Made)
    };
    Harness::asked(verifying(verify), "Do the plan.", Some(plan))
}

fn takes_step(h: &mut Harness, name: &str) {
    h.look();
    assert!(h.prompt().contains(&format!("# Your sub-task\n\n{name}\n")), "{}", h.prompt());
    h.reply(&finishing("click_element", "pressed").to_string());
    returns(h, SEEN, "pressed");
}

#[test]
fn plan_runs_without_the_host_if_its_object_is_open_or_launchable() {
    // The document is open.
    let mut h = following(Some("/home/me/sales.odt"), Verify::Auto);
    h.look();
    assert_eq!(h.command().to_line(), r#"select_application_window(id="w1")"#);
    h.succeeds(h.windows.first().cloned(), Value::Null);
    takes_step(&mut h, "press it");
    // The steps of the second sub-task start over.
    takes_step(&mut h, "press it again");
    assert_eq!((h.outcome().kind, h.session.tally().model_calls), (OutcomeKind::Finished, 2));
    assert_eq!(h.session.subtasks().len(), 2);

    // The application is not.
    let mut h = following(Some("LibreOffice Calc"), Verify::Auto);
    h.look();
    assert_eq!(h.command().to_line(), r#"launch_application(name="LibreOffice Calc")"#);
    h.windows.push(window(2, "Untitled 1", "LibreOffice Calc"));
    h.succeeds(h.windows.get(1).cloned(), Value::Null);
    takes_step(&mut h, "press it");
    takes_step(&mut h, "press it again");
    assert_eq!(h.session.tally().model_calls, 2);
}

#[test]
fn host_is_asked_once_to_open_a_plans_object_and_once_to_verify() {
    let mut h = following(Some("report.docx"), Verify::Always);
    h.look();
    let prompt = h.prompt();
    assert!(
        prompt.contains("The request comes with a plan of 2 steps") && prompt.contains("“report.docx”"),
        "{prompt}"
    );
    let mut reply = assign_reply("w1");
    reply["current_subtask"] = json!("something of its own");
    h.reply(&reply.to_string());
    h.succeeds(h.windows.first().cloned(), Value::Null);
    takes_step(&mut h, "press it");
    takes_step(&mut h, "press it again");
    h.step(&host("FINISH"));
    assert_eq!((h.outcome().kind, h.session.tally().model_calls), (OutcomeKind::Finished, 4));

    // It cannot finish a plan before any step is done.
    let mut h = following(None, Verify::Auto);
    h.step(&host("FINISH"));
    assert_eq!(h.outcome().kind, OutcomeKind::Failed);
    assert!(h.outcome().reason.contains("before a step of the plan was done"), "{}", h.outcome().reason);
}

// docs/design/decisions.md, decision 5
#[test]
fn first_failed_step_of_a_plan_ends_the_round() {
    let mut h = following(Some("sales.odt"), Verify::Auto);
    h.look();
    h.succeeds(h.windows.first().cloned(), Value::Null);
    takes_step(&mut h, "press it");
    h.step(&app("FAIL", &[]));
    assert_eq!(h.session.host_status(), HostStatus::Fail);
    let outcome = h.outcome();
    assert_eq!(
        (outcome.kind, outcome.reason.as_str()),
        (OutcomeKind::Failed, "step 2 of 2 of the plan failed: what I found")
    );
    // Rejected by a person is rejected.
    let mut h = following(Some("sales.odt"), Verify::Auto);
    h.look();
    h.succeeds(h.windows.first().cloned(), Value::Null);
    h.step(&app("CONFIRM", &["click_element"]));
    h.answer(SessionEvent::Rejected { instruction: None, is_message: false });
    assert_eq!(h.outcome().kind, OutcomeKind::Rejected);
    // A plan without steps is none.
    let empty = FollowerPlan { object: None, steps: vec![" ".to_owned()], ..FollowerPlan::default() };
    let h = Harness::asked(config(), "Do the plan.", Some(empty));
    assert!(matches!(h.effect(), Effect::Finish { .. }));
    assert_eq!(h.outcome().reason, "the plan has no steps");
}
