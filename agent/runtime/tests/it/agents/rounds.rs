//! Rounds in which the HostAgent assigns sub-tasks to windows and to agents without one.

use std::sync::Arc;

use deskhand_desktop_fake::office;
use deskhand_machine::{
    agent::AgentHome,
    outcome::OutcomeKind,
    policy::{PolicyDecision, PolicyRule},
    record::{JournalEntry, JournalRecord},
    session::{Effect, StopReason},
};
use deskhand_model::Script;
use deskhand_runtime::{
    RunError, RunSummary, StopSwitch,
    agents::{AgentRegistry, EnabledAgents, mcp::McpKind, shell::ShellKind},
    replay, run,
};

use super::{
    elsewhere::printer,
    shell::{Fifo, is_gone, unconfined},
};
use crate::support::{Ran, World, events, results, script};

/// The table is read in a window.
const READ: &str = r#"
[[turn]]
title = "hand the reading to Writer"
agent = "HostAgent"
expect = '- \[a1\] agent "shell" — Works on the command line'
reply = '''
{"thought": "the table is in Writer", "status": "ASSIGN",
 "current_subtask": "read the sales table", "control_label": "{{window "LibreOffice Writer"}}"}
'''

[[turn]]
agent = "AppAgent"
reply = '''
{"thought": "read it", "status": "FINISH",
 "action": [{"function": "read_table", "arguments": {"name": "Sales"}}], "result": "read"}
'''
"#;

/// Then a folder is made by the shell.
const MAKE: &str = r#"
[[turn]]
agent = "HostAgent"
expect = 'read the sales table. by AppAgent/.*FINISHED'
reply = '''
{"thought": "files are the shell's", "status": "ASSIGN", "control_label": "a1",
 "current_subtask": "make a folder for the report", "message": ["call it report"]}
'''

[[turn]]
agent = "shell"
expect = 'Working folder: .*\n.*\nIt is empty'
reply = '''
{"thought": "make it", "status": "CONTINUE",
 "action": [{"function": "run_command", "arguments": {"program": "mkdir", "arguments": ["report"]}}]}
'''

[[turn]]
agent = "shell"
expect = '- report/'
reply = '''
{"thought": "see what is there", "status": "FINISH", "result": "made",
 "action": [{"function": "run_command", "arguments": {"program": "ls"}}]}
'''
"#;

const END: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '{"thought": "done", "status": "FINISH", "result": "all done"}'
"#;

fn enabled(names: &[&str], shell: ShellKind) -> EnabledAgents {
    let mut registry = AgentRegistry::default();
    registry.register(shell).unwrap();
    registry.register(McpKind::new(printer("well"))).unwrap();
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    registry.enable(&names).unwrap()
}

async fn run_agents(model: Script, agents: EnabledAgents, stop: StopSwitch) -> Ran {
    let world = World::new(model, Arc::new(office()));
    let mut options = world.options(vec!["Make a report.".to_owned()]);
    (options.agents, options.stop) = (agents, stop);
    // An approved action is followed by another step; an allowed one is not.
    let rule = PolicyRule::new(PolicyDecision::Allow, "harmless");
    options.config.policy.rules = vec![PolicyRule {
        tool: "run_command".to_owned(),
        label: "mkdir|ls".to_owned(),
        arguments: Some("*".to_owned()),
        ..rule
    }];
    let mut lines = Vec::new();
    let end = run(options, &mut |line: &JournalEntry| lines.push(line.clone())).await.unwrap();
    let World { desktop, folder, store, .. } = world;
    Ran {
        desktop: Arc::into_inner(desktop).unwrap(),
        end,
        lines,
        store: (store, Arc::into_inner(folder).unwrap()),
    }
}

/// Replays the journal offline, without any agent code.
fn replays_equal(ran: &Ran) {
    let journal = ran.end.folder.read().unwrap();
    assert_eq!(journal.problems, []);
    let prompts = ran.end.folder.prompts(&journal.header.prompts_sha256).unwrap();
    let replayed = replay(&journal, prompts);
    assert_eq!(replayed.difference, None);
    assert!(replayed.complete, "{replayed:?}");
}

#[tokio::test]
async fn assigns_to_a_window_the_shell_and_a_process_and_replays_equal() {
    let elsewhere = r#"
[[turn]]
agent = "HostAgent"
expect = 'make a folder for the report. by shell: FINISHED — made'
reply = '''
{"thought": "on paper", "status": "ASSIGN", "control_label": "a2", "current_subtask": "print it"}
'''
"#;
    let work = tempfile::tempdir().unwrap();
    let shell = ShellKind::new(unconfined(Some(work.path())));
    let model = script(&format!("{READ}{MAKE}{elsewhere}{END}"));
    let ran = run_agents(model, enabled(&["shell", "printer"], shell), StopSwitch::new()).await;
    let outcome = ran.end.outcome.clone().unwrap();
    assert_eq!((outcome.kind, outcome.reason.as_str()), (OutcomeKind::Finished, "all done"));
    assert!(work.path().join("report").is_dir());
    assert!(results(&ran.lines).all(deskhand_machine::command::CallResult::is_success), "{:?}", ran.lines);
    let JournalRecord::Header(header) = &ran.lines[0].record else { panic!("no header") };
    let homes: Vec<(&str, bool)> = header
        .config
        .agents
        .iter()
        .map(|agent| (agent.name.as_str(), matches!(agent.home, AgentHome::Steps(_))))
        .collect();
    assert_eq!(homes, [("shell", true), ("printer", false)]);
    let reports: Vec<_> =
        events(&ran.lines).filter(|event| format!("{event:?}").starts_with("Delegated")).collect();
    assert_eq!(reports.len(), 1, "{reports:?}");
    replays_equal(&ran);
}

#[tokio::test]
async fn an_agent_without_a_window_looks_up_what_was_read_in_one() {
    let turns = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"thought": "files are the shell's", "status": "ASSIGN", "control_label": "a1", "current_subtask": "name the best region"}
'''

[[turn]]
agent = "shell"
expect = 'read_table'
reply = '''
{"thought": "look it up", "status": "CONTINUE", "action": [{"function": "recall", "arguments": {"words": "region"}}]}
'''

[[turn]]
agent = "shell"
expect = 'Step [0-9]+.*\n?.*recall\(words="region"\).*ok'
reply = '{"thought": "known", "status": "FINISH", "result": "North"}'
"#;
    let work = tempfile::tempdir().unwrap();
    let shell = ShellKind::new(unconfined(Some(work.path())));
    let model = script(&format!("{READ}{turns}{END}"));
    let ran = run_agents(model, enabled(&["shell"], shell), StopSwitch::new()).await;
    assert_eq!(ran.end.suspended, None);
    let outcome = ran.end.outcome.clone().unwrap();
    assert_eq!((outcome.kind, outcome.reason.as_str()), (OutcomeKind::Finished, "all done"));
    let recalled = results(&ran.lines).last().unwrap();
    assert!(recalled.output.to_string().contains("Region"), "{recalled:?}");
    replays_equal(&ran);
}

#[tokio::test]
async fn an_expected_result_ends_the_round_without_another_host_step() {
    let turns = |expect: &str| {
        format!(
            r#"
[[turn]]
agent = "HostAgent"
reply = '''
{{"thought": "t", "status": "ASSIGN", "control_label": "a1", "current_subtask": "make a folder", "next": []}}
'''

[[turn]]
agent = "shell"
expect = 'it is told how'
reply = '''
{{"thought": "make it", "status": "FINISH", "result": "made", "action": [
 {{"function": "run_command", "arguments": {{"program": "mkdir", "arguments": ["report"]}}}},
 {{"function": "run_command", "arguments": {{"program": "ls"}}, "expect": "{expect}"}}]}}
'''
"#
        )
        .replace("it is told how", "may have `\"expect\": …`")
    };
    let calls = async |expect: &str| {
        let work = tempfile::tempdir().unwrap();
        let shell = ShellKind::new(unconfined(Some(work.path())));
        let model = script(&format!("{}{END}", turns(expect)));
        let ran = run_agents(model, enabled(&["shell"], shell), StopSwitch::new()).await;
        let outcome = ran.end.outcome.clone().unwrap();
        assert_eq!(outcome.kind, OutcomeKind::Finished, "{}", outcome.reason);
        replays_equal(&ran);
        (RunSummary::of(&ran.lines).tally.model_calls, outcome.reason)
    };
    assert_eq!(calls("report").await, (2, "made".to_owned()));
    assert_eq!(calls("another folder").await, (3, "all done".to_owned()));
}

#[tokio::test]
async fn a_stop_kills_the_program_and_ends_the_round() {
    let (fifo, stop) = (Fifo::new(), StopSwitch::new());
    let turns = r#"
[[turn]]
agent = "HostAgent"
reply = '{"thought": "t", "status": "ASSIGN", "control_label": "a1", "current_subtask": "wait"}'

[[turn]]
agent = "shell"
reply = '''
{"thought": "wait", "status": "FINISH", "action": [{"function": "run_command",
 "arguments": {"program": "sh", "arguments": ["-c", "echo $$ > FIFO; exec sleep 600"]}}]}
'''
"#;
    let model = script(&turns.replace("FIFO", fifo.path().to_str().unwrap()));
    let shell = ShellKind::new(unconfined(None));
    let running = run_agents(model, enabled(&["shell"], shell), stop.clone());
    let stopping = async {
        let pid = fifo.read().await;
        stop.now(StopReason::User);
        pid
    };
    let (ran, pid) = tokio::join!(running, stopping);
    assert_eq!(ran.end.outcome.clone().unwrap().kind, OutcomeKind::Cancelled);
    is_gone(&pid).await;
    replays_equal(&ran);
}

#[tokio::test]
async fn a_failed_agent_start_leaves_no_session() {
    let world = World::new(script(END), Arc::new(office()));
    let mut options = world.options(vec!["Make a report.".to_owned()]);
    options.agents = enabled(&["shell"], ShellKind::default());
    let error = run(options, &mut |_: &JournalEntry| {}).await.unwrap_err();
    assert!(matches!(error, RunError::Agent(_)), "{error:?}");
    assert_eq!(world.store.list().unwrap(), []);
}

#[tokio::test]
async fn an_unknown_agent_is_never_assigned() {
    let turns = r#"
[[turn]]
agent = "HostAgent"
reply = '{"thought": "t", "status": "ASSIGN", "control_label": "a7", "current_subtask": "wait"}'

[[turn]]
agent = "HostAgent"
expect = '`a7` is not a target; the targets are .*a1 \(shell\)'
reply = '{"thought": "t", "status": "FAIL", "result": "nobody can"}'
"#;
    let shell = ShellKind::new(unconfined(None));
    let ran = run_agents(script(turns), enabled(&["shell"], shell), StopSwitch::new()).await;
    assert_eq!(ran.end.outcome.clone().unwrap().kind, OutcomeKind::Failed);
    let delegated = ran.lines.iter().any(|line| {
        matches!(&line.record, JournalRecord::Effect(effect) if matches!(effect.effect, Effect::Delegate { .. }))
    });
    assert!(!delegated);
}
