//! Agents of other kinds, with their own statuses, prompts and tools.

use deskhand_machine::{
    agent::{
        AGENT_SYSTEM_PROMPT, AGENT_USER_PROMPT, AgentDefinition, AgentHome, AgentRef, AgentStatus,
        AgentSteps, DefinitionError,
    },
    model::ReplyKind,
    observation::{ObservationTarget, ObserveFailure},
    outcome::OutcomeKind,
    policy::{PolicyDecision, PolicyRule},
    prompt::PromptSet,
    reply::AgentReply,
    session::{
        ApprovalScope, Effect, EventRecord, NoAnswer, Session, SessionConfig, SessionEvent, SubtaskStatus,
    },
    states::AppStatus,
};
use deskhand_ui::ids::AgentId;
use serde_json::{Value, json};

use crate::harness::{Harness, app, assign_reply, config, host, tool};

fn status(word: &str, meaning: AppStatus, next: &[&str]) -> AgentStatus {
    AgentStatus {
        word: word.to_owned(),
        meaning,
        description: format!("when it is {}.", word.to_lowercase()),
        next: next.iter().map(|word| (*word).to_owned()).collect(),
    }
}

/// An oven that must be heated before it bakes.
fn oven() -> AgentDefinition {
    let steps = AgentSteps {
        statuses: vec![
            status("HEATING", AppStatus::Continue, &["HEATING", "BAKING", "STUCK"]),
            status("BAKING", AppStatus::Continue, &[]),
            status("WATCHING", AppStatus::Screenshot, &[]),
            status("ASKING", AppStatus::Pending, &[]),
            status("IS IT SAFE", AppStatus::Confirm, &[]),
            status("BAKED", AppStatus::Finish, &[]),
            status("STUCK", AppStatus::Fail, &[]),
        ],
        instructions: "You mind an oven.".to_owned(),
        system_prompt: AGENT_SYSTEM_PROMPT.to_owned(),
        user_prompt: AGENT_USER_PROMPT.to_owned(),
        tools: vec![tool("set_heat"), tool("open_door")],
        subtask_steps_max: None,
    };
    AgentDefinition {
        id: AgentId(1),
        name: "oven".to_owned(),
        introduction: "Bakes.".to_owned(),
        home: AgentHome::Steps(Box::new(steps)),
    }
}

fn with(agent: AgentDefinition) -> SessionConfig {
    SessionConfig { agents: vec![agent], ..config() }
}

fn limited(limit: u32) -> AgentDefinition {
    let mut agent = oven();
    if let AgentHome::Steps(steps) = &mut agent.home {
        steps.subtask_steps_max = Some(limit);
    }
    agent
}

/// A session whose HostAgent has just given the oven a sub-task.
fn baking(agent: AgentDefinition) -> Harness {
    let mut h = Harness::started(with(agent));
    h.step(&assign_reply("a1"));
    h
}

fn says(word: &str, tools: &[&str]) -> Value {
    app(word, tools)
}

#[test]
fn agent_is_a_target_with_its_own_statuses_prompts_and_tools() {
    let mut h = Harness::started(with(oven()));
    h.look();
    assert!(h.prompt().contains("- [a1] agent \"oven\" — Bakes."), "{}", h.prompt());
    h.reply(&assign_reply("a1").to_string());
    // Nothing is selected: the agent has no window.
    let Effect::Observe { look } = h.effect() else { panic!("{:?}", h.effect()) };
    assert_eq!(look, ObservationTarget::Agent { agent: AgentId(1), picture: false });
    h.look();
    let Effect::Ask { request } = h.effect() else { panic!("{:?}", h.effect()) };
    assert_eq!((request.agent.to_string().as_str(), request.reply), ("oven", ReplyKind::Agent));
    let words = ["HEATING", "BAKING", "WATCHING", "ASKING", "IS IT SAFE", "BAKED", "STUCK"];
    assert_eq!(request.schema["properties"]["status"]["enum"], json!(words));
    insta::assert_snapshot!("agent_first_step", h.prompt());
    h.reply(&says("heating", &["set_heat"]).to_string());
    let command = h.command();
    assert_eq!((command.tool.as_str(), command.agent, command.window), ("set_heat", Some(AgentId(1)), None));
    h.succeeds(None, json!({"degrees": 200}));
    h.look();
    assert!(h.prompt().contains("# Your status: HEATING"), "{}", h.prompt());
    h.reply(&says("BAKING", &["open_door"]).to_string());
    h.succeeds(None, Value::Null);
    h.step(&says("Baked.", &[]));
    let subtask = &h.session.subtasks()[0];
    assert_eq!((subtask.status, subtask.agent.to_string().as_str()), (SubtaskStatus::Finished, "oven"));
    h.look();
    assert!(h.prompt().contains("by oven: FINISHED — what I found"), "{}", h.prompt());
    h.reply(&host("FINISH").to_string());
    assert_eq!(h.outcome().kind, OutcomeKind::Finished);
    replays_equal(&h, &with(oven()));
}

/// The same events give the same effects, without any code of the agent.
fn replays_equal(h: &Harness, config: &SessionConfig) {
    let text = serde_json::to_string(config).unwrap();
    let mut session = Session::new(serde_json::from_str(&text).unwrap(), PromptSet::default());
    session
        .apply(&EventRecord { effect: session.next().map(|record| record.id), ..h.history[0].1.clone() })
        .unwrap();
    for (wanted, event) in h.history.iter().skip(1) {
        assert_eq!(&serde_json::to_string(&session.next()).unwrap(), wanted);
        session.apply(event).unwrap();
    }
    assert_eq!(session, h.session);
}

#[test]
fn status_that_may_not_follow_is_repaired_then_an_error() {
    let mut h = baking(oven());
    h.step(&says("HEATING", &["set_heat"]));
    h.succeeds(None, Value::Null);
    h.look();
    let Effect::Ask { request } = h.effect() else { panic!("{:?}", h.effect()) };
    assert_eq!(request.schema["properties"]["status"]["enum"], json!(["HEATING", "BAKING", "STUCK"]));
    h.reply(&says("BAKED", &[]).to_string());
    let expected = "`BAKED` is not a status after HEATING; use one of HEATING, BAKING, STUCK";
    assert!(h.prompt().contains(expected), "{}", h.prompt());
    h.reply(&says("CONTINUE", &["set_heat"]).to_string());
    h.reply(&says("FINISH", &[]).to_string());
    let outcome = h.outcome();
    assert_eq!(outcome.kind, OutcomeKind::Error);
    assert!(outcome.reason.contains("`FINISH` is not a status"), "{}", outcome.reason);
}

// docs/design/decisions.md, decision 3
#[test]
fn confirm_parks_the_action_of_any_agent() {
    for (event, outcome) in [
        (SessionEvent::Approved { scope: ApprovalScope::Once }, None),
        (SessionEvent::Rejected { instruction: None, is_message: false }, Some(SubtaskStatus::Rejected)),
    ] {
        let mut h = baking(oven());
        h.step(&says("is-it-safe", &["open_door"]));
        let Effect::AwaitApproval { approval } = h.effect() else { panic!("{:?}", h.effect()) };
        assert_eq!(approval.commands[0].agent, Some(AgentId(1)));
        h.answer(event);
        assert_eq!(h.session.subtasks().first().map(|subtask| subtask.status), outcome);
        if outcome.is_none() {
            assert_eq!(h.command().tool, "open_door");
        }
    }
}

// docs/design/decisions.md, decision 4
#[test]
fn pending_of_any_agent_asks_the_user() {
    let mut h = baking(oven());
    let mut reply = says("ASKING", &[]);
    reply["questions"] = json!(["Fan or grill?"]);
    h.step(&reply);
    assert!(matches!(h.effect(), Effect::AskUser { .. }), "{:?}", h.effect());
    h.answer(SessionEvent::Unanswered { why: NoAnswer::NoChannel });
    h.look();
    assert!(h.prompt().contains("Fan or grill? → nobody can be asked"), "{}", h.prompt());
}

// docs/design/decisions.md, decision 5
#[test]
fn failed_subtasks_of_any_agent_count_towards_the_limit() {
    let mut h = Harness::started(with(oven()));
    for count in 1..=3 {
        h.step(&assign_reply("a1"));
        h.step(&says("STUCK", &[]));
        assert_eq!(h.session.subtasks().len(), count);
    }
    assert_eq!(h.outcome().reason, "3 sub-tasks in a row failed; the last: what I found");
}

#[test]
fn reassigned_agent_starts_at_its_first_status() {
    let mut h = baking(oven());
    h.step(&says("STUCK", &[]));
    h.step(&assign_reply("a1"));
    h.look();
    let prompt = h.prompt();
    assert!(prompt.contains("# Your status: HEATING") && !prompt.contains("Your steps on this"), "{prompt}");
}

// docs/design/decisions.md, decision 9
#[test]
fn screenshots_in_a_row_of_any_agent_are_bounded() {
    let mut h = baking(oven());
    for _ in 0..4 {
        h.step(&says("WATCHING", &[]));
    }
    h.look();
    assert!(h.prompt().contains("You took 4 screenshots without acting"), "{}", h.prompt());
}

#[test]
fn failed_action_vetoes_finish_and_unknown_tool_is_not_sent() {
    let mut h = baking(oven());
    h.step(&says("BAKED", &["set_heat"]));
    h.fails("the door is open");
    assert!(h.session.subtasks().is_empty());
    h.step(&says("BAKED", &["open_dor"]));
    h.look();
    assert!(h.prompt().contains("no tool `open_dor`; did you mean `open_door`?"), "{}", h.prompt());
}

#[test]
fn step_limit_of_a_subtask_fails_only_the_subtask() {
    let mut h = baking(limited(2));
    for heat in ["set_heat", "open_door"] {
        h.step(&says("HEATING", &[heat]));
        h.succeeds(None, Value::Null);
    }
    let subtask = &h.session.subtasks()[0];
    assert_eq!(
        (subtask.status, subtask.result.as_str()),
        (SubtaskStatus::Failed, "the limit of 2 steps per sub-task is reached")
    );
    h.step(&host("FINISH"));
    assert_eq!(h.outcome().kind, OutcomeKind::Finished);
}

#[test]
fn failed_observation_of_an_agent_fails_only_its_subtask() {
    for (gone, looks) in [(true, 1), (false, 3)] {
        let mut h = baking(oven());
        for _ in 0..looks {
            h.answer(SessionEvent::ObserveFailed {
                failure: ObserveFailure {
                    window_gone: gone,
                    desktop_gone: false,
                    message: "no answer from the device".to_owned(),
                },
            });
        }
        let subtask = &h.session.subtasks()[0];
        assert_eq!(
            (subtask.status, subtask.result.as_str()),
            (SubtaskStatus::Failed, "no answer from the device")
        );
        h.look();
    }
}

#[test]
fn agents_with_and_without_window_alternate_and_share_the_blackboard() {
    let mut h = Harness::started(with(oven()));
    h.assign();
    h.step(&app("FINISH", &["read_table"]));
    h.succeeds(None, json!("200 degrees"));
    h.step(&assign_reply("a1"));
    h.look();
    let prompt = h.prompt();
    assert!(prompt.contains("by AppAgent/libreoffice-writer: FINISHED"), "{prompt}");
    assert!(prompt.contains("200 degrees"), "{prompt}");
    h.reply(&says("BAKED", &[]).to_string());
    h.assign();
    h.look();
    assert!(h.prompt().contains("by oven: FINISHED"), "{}", h.prompt());
    replays_equal(&h, &with(oven()));
}

#[test]
fn invalid_definitions_are_rejected() {
    let check = |change: &dyn Fn(&mut AgentSteps), expected: &str| {
        let mut agent = oven();
        let AgentHome::Steps(steps) = &mut agent.home else { panic!("the oven steps here") };
        change(steps);
        let error: DefinitionError = agent.check().unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    assert_eq!(oven().check(), Ok(()));
    check(
        &|steps| steps.statuses.retain(|status| status.meaning != AppStatus::Finish),
        "agent `oven` has no status that means FINISH",
    );
    check(
        &|steps| steps.statuses.push(status("heating", AppStatus::Continue, &[])),
        "status `heating` of agent `oven` is defined twice",
    );
    check(
        &|steps| steps.statuses[0].next.push("MELTED".to_owned()),
        "status `HEATING` of agent `oven` may be followed by an undefined status",
    );
    check(
        &|steps| steps.statuses.push(status("BROKEN", AppStatus::Error, &[])),
        "status `BROKEN` of agent `oven` means ERROR, which is reserved for the system",
    );
    check(&|steps| steps.tools.push(tool("set_heat")), "agent `oven` has two tools named `set_heat`");
}

#[test]
fn reply_is_parsed_with_the_statuses_of_its_agent() {
    let agents = [oven()];
    let said = says("is it safe", &["open_door"]).to_string();
    let read = |kind, agent| AgentReply::read(kind, &AgentRef::from_name(agent), &agents, &said);
    let Ok(AgentReply::App(reply)) = read(ReplyKind::Agent, "oven") else { panic!("{said}") };
    assert_eq!((reply.status, reply.word.as_str()), (AppStatus::Confirm, "IS IT SAFE"));
    assert!(read(ReplyKind::AppAgent, "AppAgent/oven").is_err());
}

/// The shell's tool, asked for by an agent that may run it.
fn run(arguments: &Value) -> (AgentDefinition, Value) {
    let mut agent = oven();
    if let AgentHome::Steps(steps) = &mut agent.home {
        steps.tools.push(tool("run_command"));
    }
    let mut reply = says("HEATING", &[]);
    reply["action"] = json!([{"function": "run_command", "arguments": arguments}]);
    (agent, reply)
}

#[test]
fn program_runs_if_a_person_or_a_rule_allows_it() {
    let (agent, reply) = run(&json!({"program": "ls", "arguments": ["-l"]}));
    let mut h = baking(agent.clone());
    h.step(&reply);
    let Effect::AwaitApproval { approval } = h.effect() else { panic!("{:?}", h.effect()) };
    assert_eq!(approval.reason, "safe guard: it runs a program: ls -l");
    // What is approved for the session is this command, not the program with other arguments.
    h.answer(SessionEvent::Approved { scope: ApprovalScope::Session });
    h.succeeds(None, Value::Null);
    h.step(&reply);
    assert_eq!(h.command().tool, "run_command");
    h.succeeds(None, Value::Null);
    h.step(&run(&json!({"program": "ls", "arguments": ["/"]})).1);
    assert!(matches!(h.effect(), Effect::AwaitApproval { .. }), "{:?}", h.effect());

    let mut config = with(agent);
    let rule = |label: &str, decision| PolicyRule {
        tool: "run_command".to_owned(),
        label: label.to_owned(),
        ..PolicyRule::new(decision, "")
    };
    config.policy.rules = vec![rule("ls|cat", PolicyDecision::Allow), rule("rm", PolicyDecision::Deny)];
    // A rule that names a program says nothing of what it does with arguments.
    let mut h = Harness::started(config.clone());
    h.step(&assign_reply("a1"));
    h.step(&reply);
    assert!(matches!(h.effect(), Effect::AwaitApproval { .. }), "{:?}", h.effect());
    config.policy.rules[0].arguments = Some("*".to_owned());
    let mut h = Harness::started(config);
    h.step(&assign_reply("a1"));
    h.step(&reply);
    assert_eq!(h.command().tool, "run_command");
    h.succeeds(None, Value::Null);
    h.step(&run(&json!({"program": "rm", "arguments": ["-r", "."]})).1);
    h.look();
    assert!(h.prompt().contains("not run: denied by the policy"), "{}", h.prompt());
    h.reply(&run(&json!({"program": "./ls"})).1.to_string());
    assert!(matches!(h.effect(), Effect::AwaitApproval { .. }), "{:?}", h.effect());
}
