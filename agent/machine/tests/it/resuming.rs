//! Resumed sessions and delegated sub-tasks.

use deskhand_machine::{
    agent::{AgentDefinition, AgentHome, AgentReport},
    outcome::OutcomeKind,
    policy::{Policy, PolicyDecision, PolicyRule},
    session::{ApprovalScope, AskedBy, Effect, NoAnswer, SessionConfig, SessionEvent, SubtaskStatus},
};
use deskhand_ui::ids::AgentId;
use serde_json::{Value, json};

use crate::harness::{Harness, app, assign_reply, config, host, window};

fn resumed(desktop_kept: bool) -> SessionEvent {
    SessionEvent::Resumed { desktop_kept }
}

#[test]
fn interrupted_call_is_reported_and_never_sent_again() {
    let mut h = Harness::started(config());
    h.assign();
    h.step(&app("FINISH", &["click_element", "read_table"]));
    assert_eq!(h.command().tool, "click_element");
    h.answer(resumed(true));
    assert!(h.session.subtasks().is_empty(), "what may be half done is not finished");
    h.look();
    let prompt = h.prompt();
    assert!(prompt.contains("unknown: the process ended while it ran; it may be half done"), "{prompt}");
    assert!(prompt.contains("skipped, not run"), "{prompt}");
}

/// Who is interrupted again and again has not tried in vain.
#[test]
fn interrupted_actions_are_no_repetitions() {
    let launch = json!({
        "thought": "t", "status": "CONTINUE", "function": "launch_application",
        "arguments": {"name": "LibreOffice Calc"},
    });
    for desktop_kept in [false, true] {
        let mut h = Harness::started(config());
        h.windows = Vec::new();
        for _ in 0..8 {
            h.look();
            assert!(!h.prompt().contains("exactly the same"), "{}", h.prompt());
            h.reply(&launch.to_string());
            assert_eq!(h.command().tool, "launch_application", "it is sent each time");
            h.answer(resumed(desktop_kept));
        }
    }
}

#[test]
fn other_pending_effects_stay_pending_after_resume() {
    let mut h = Harness::started(config());
    let check = |h: &mut Harness| {
        let before = h.session.next().cloned();
        h.answer(resumed(true));
        assert_eq!(h.session.next().cloned(), before);
    };
    check(&mut h);
    h.look();
    check(&mut h);
    h.reply(&host("FINISH").to_string());
    check(&mut h);
    h.answer(SessionEvent::acknowledged());
    check(&mut h);
}

#[test]
fn lost_desktop_ends_subtasks_and_the_host_observes_again() {
    // Whatever the AppAgent was at, its window is gone, also where the new desktop gives out the same ids.
    let at_ask = |h: &mut Harness| h.look();
    let at_approval = |h: &mut Harness| h.step(&app("CONFIRM", &["click_element"]));
    let at_call = |h: &mut Harness| h.step(&app("CONTINUE", &["click_element"]));
    for reach in [&(|_: &mut Harness| ()) as &dyn Fn(&mut Harness), &at_ask, &at_approval, &at_call] {
        let mut h = Harness::started(config());
        h.assign();
        reach(&mut h);
        h.answer(resumed(false));
        let subtask = &h.session.subtasks()[0];
        assert_eq!(subtask.status, SubtaskStatus::Failed);
        h.windows = vec![window(1, "something else", "Files")];
        h.look();
        let prompt = h.prompt();
        assert!(prompt.contains("resumes on a new desktop"), "{prompt}");
        assert!(prompt.contains("the earlier desktop is gone"), "{prompt}");
    }
    // The HostAgent's question showed windows that are gone.
    let mut h = Harness::started(config());
    h.look();
    h.answer(resumed(false));
    h.look();
    assert!(h.prompt().contains("resumes on a new desktop"), "{}", h.prompt());
}

#[test]
fn time_without_a_process_is_not_counted() {
    let mut config = config();
    config.limits.wall_ms_max = Some(1_000);
    let mut h = Harness::started(config);
    h.wait_ms(1_000_000);
    h.answer(resumed(true));
    h.step(&host("FINISH"));
    assert_eq!(h.outcome().kind, OutcomeKind::Finished);
}

pub(crate) fn oven() -> AgentDefinition {
    AgentDefinition {
        id: AgentId(1),
        name: "Oven".to_owned(),
        introduction: "Bakes.".to_owned(),
        home: AgentHome::Delegate,
    }
}

fn with_agent() -> SessionConfig {
    SessionConfig { agents: vec![oven()], ..config() }
}

#[test]
fn delegated_subtask_returns_as_a_report() {
    let mut h = Harness::started(with_agent());
    h.look();
    assert!(h.prompt().contains("- [a1] agent \"Oven\" — Bakes."), "{}", h.prompt());
    h.reply(&assign_reply("a1").to_string());
    let Effect::Delegate { agent, subtask, .. } = h.effect() else { panic!("{:?}", h.effect()) };
    assert_eq!((agent, subtask.as_str()), (AgentId(1), "read the sales table"));
    let report = AgentReport { status: SubtaskStatus::Finished, result: "golden brown".to_owned() };
    h.answer(SessionEvent::Delegated { report });
    h.look();
    assert!(h.prompt().contains("by Oven: FINISHED — golden brown"), "{}", h.prompt());

    // A missing report counts as possibly half done; the sub-task is not sent again.
    h.reply(&assign_reply("a1").to_string());
    h.answer(resumed(true));
    h.look();
    assert!(h.prompt().contains("by Oven: FAILED — the process ended while it ran"), "{}", h.prompt());

    // An agent that broke ends the round, as an AppAgent does.
    h.reply(&assign_reply("a1").to_string());
    let report = AgentReport { status: SubtaskStatus::Error, result: "no power".to_owned() };
    h.answer(SessionEvent::Delegated { report });
    assert_eq!((h.outcome().kind, h.outcome().reason.as_str()), (OutcomeKind::Error, "no power"));
    h.answer(SessionEvent::acknowledged());
    h.answer(SessionEvent::Requested { text: "again".to_owned(), plan: None });
    h.step(&assign_reply("w1"));
    h.succeeds(h.windows.first().cloned(), Value::Null);
    h.look();
}

#[test]
fn what_another_machine_works_on_is_waited_for_again() {
    let scanner = AgentDefinition { home: AgentHome::Machine, ..oven() };
    let mut h = Harness::started(SessionConfig { agents: vec![scanner], ..config() });
    h.look();
    h.reply(&assign_reply("a1").to_string());
    let handed = h.session.next().cloned().unwrap();
    for desktop_kept in [true, false] {
        // It is not sent again: it is asked for under the same number.
        h.answer(resumed(desktop_kept));
        assert_eq!(h.session.next(), Some(&handed));
    }
    let report = AgentReport { status: SubtaskStatus::Finished, result: "a page".to_owned() };
    h.answer(SessionEvent::Delegated { report });
    h.look();
    assert!(h.prompt().contains("by Oven: FINISHED — a page"), "{}", h.prompt());
}

/// A session that is about to delegate, under one rule.
fn delegating(rule: PolicyRule) -> Harness {
    let policy = Policy { rules: vec![rule], ..Policy::default() };
    let mut h = Harness::started(SessionConfig { policy, ..with_agent() });
    h.step(&assign_reply("a1"));
    h
}

#[test]
fn delegating_is_a_command_that_rules_match() {
    // Denied by tool, by what it does, by the name of the agent, and by the sub-task.
    let deny = || PolicyRule::new(PolicyDecision::Deny, "bakes nothing today");
    let rules = [
        PolicyRule { tool: "delegate_subtask".to_owned(), ..deny() },
        PolicyRule { does: "delegate".to_owned(), ..deny() },
        PolicyRule { application: "oven".to_owned(), ..deny() },
        PolicyRule { label: "Oven".to_owned(), arguments: Some("*sales table*".to_owned()), ..deny() },
    ];
    for rule in rules {
        let mut h = delegating(rule);
        h.look();
        assert!(h.prompt().contains("denied by the policy (bakes nothing today)"), "{}", h.prompt());
    }
    // Rules about something else change nothing.
    let other = [
        PolicyRule { does: "run".to_owned(), ..deny() },
        PolicyRule { label: "Toaster".to_owned(), ..deny() },
    ];
    for rule in other {
        let h = delegating(rule);
        assert!(matches!(h.effect(), Effect::Delegate { .. }), "{:?}", h.effect());
    }
}

#[test]
fn an_approved_delegation_is_carried_out_and_a_rejected_one_is_not() {
    let asked = || {
        let h = delegating(PolicyRule {
            does: "delegate".to_owned(),
            ..PolicyRule::new(PolicyDecision::Ask, "ask the cook")
        });
        let Effect::AwaitApproval { approval } = h.effect() else { panic!("{:?}", h.effect()) };
        assert_eq!(approval.asked_by, AskedBy::Policy { rule: "ask the cook".to_owned() });
        let line = approval.commands[0].to_line();
        assert!(
            line.contains("delegate_subtask") && line.contains("Oven") && line.contains("sales table"),
            "{line}"
        );
        h
    };
    let mut h = asked();
    h.answer(SessionEvent::Approved { scope: ApprovalScope::Session });
    let Effect::Delegate { agent, .. } = h.effect() else { panic!("{:?}", h.effect()) };
    assert_eq!(agent, AgentId(1));
    // The approval covers the same sub-task of the same agent, as long as no more is handed over with it.
    let report = |status| AgentReport { status, result: "golden".to_owned() };
    h.answer(SessionEvent::Delegated { report: report(SubtaskStatus::Failed) });
    h.step(&assign_reply("a1"));
    assert!(matches!(h.effect(), Effect::Delegate { .. }), "{:?}", h.effect());
    h.answer(SessionEvent::Delegated { report: report(SubtaskStatus::Finished) });
    h.step(&assign_reply("a1"));
    let Effect::AwaitApproval { approval } = h.effect() else { panic!("{:?}", h.effect()) };
    assert!(approval.commands[0].to_line().contains("golden"), "{approval:?}");

    let mut h = asked();
    h.answer(SessionEvent::Rejected { instruction: None, is_message: false });
    assert_eq!(h.outcome().kind, OutcomeKind::Rejected);
    let mut h = asked();
    h.answer(SessionEvent::Unanswered { why: NoAnswer::NoChannel });
    assert_eq!(h.outcome().kind, OutcomeKind::Rejected);
}
