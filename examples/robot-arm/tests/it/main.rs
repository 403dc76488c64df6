//! The arm in whole sessions on the in-memory desktop: in process, and as a separate program.
#![cfg(test)]

use std::collections::BTreeMap;

use deskhand_desktop_act::ActLimits;
use deskhand_desktop_fake::office;
use deskhand_example_robot_arm::ArmKind;
use deskhand_machine::{
    outcome::OutcomeKind,
    prompt::PromptSet,
    record::{JournalEntry, JournalRecord},
    session::{SessionConfig, SessionEvent, SubtaskStatus},
};
use deskhand_model::Script;
use deskhand_runtime::{
    RunEnd, SessionRunOptions, SessionStore, StopSwitch, Toolbox, Waits,
    agents::{
        AgentKind, AgentRegistry,
        mcp::{McpKind, McpSettings},
    },
    people::People,
    programs::sandbox::SandboxSettings,
    replay, run,
};
use deskhand_ui::action::Verdict;

async fn run_with(kind: impl AgentKind, turns: &str) -> (RunEnd, Vec<JournalEntry>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut registry = AgentRegistry::default();
    registry.register(kind).unwrap();
    let (desktop, model) = (office(), Script::parse("arm.toml", turns, BTreeMap::new()).unwrap());
    let options = SessionRunOptions {
        id: None,
        store: &SessionStore::at(folder.path().join("sessions"), folder.path().join("seals")),
        desktop: &desktop,
        desktop_name: "fake".to_owned(),
        model: &model,
        tools: &Toolbox::standard(ActLimits::default()).unwrap(),
        agents: registry.enable(&["arm".to_owned()]).unwrap(),
        config: SessionConfig::default(),
        prompts: PromptSet::default(),
        requests: vec!["Type the code.".into()],
        people: People::nobody(),
        stop: StopSwitch::new(),
        waits: Waits::default(),
        ranker: None,
        retrieve: None,
        program: "test".to_owned(),
        setup: serde_json::Value::Null,
    };
    let mut lines = Vec::new();
    let end = run(options, &mut |line: &JournalEntry| lines.push(line.clone())).await.unwrap();
    let journal = end.folder.read().unwrap();
    let prompts = end.folder.prompts(&journal.header.prompts_sha256).unwrap();
    let replayed = replay(&journal, prompts);
    assert_eq!((replayed.difference, replayed.complete), (None, true));
    (end, lines, folder)
}

fn events(lines: &[JournalEntry]) -> impl Iterator<Item = &SessionEvent> {
    lines.iter().filter_map(|line| {
        if let JournalRecord::Event(record) = &line.record { Some(&record.event) } else { None }
    })
}

const ASSIGN: &str = r#"
[[turn]]
agent = "HostAgent"
expect = '- \[a1\] agent "arm" — Moves a robot arm'
reply = '{"thought": "the keypad", "status": "ASSIGN", "control_label": "a1", "current_subtask": "type \"42\""}'
"#;

#[tokio::test]
async fn in_process_agent_uses_its_own_statuses_and_verifies_its_actions() {
    let turns = r#"
[[turn]]
agent = "arm"
expect = 'HOMING: connect and home the arm first. Only HOMING, REACHING, STUCK may follow(?s:.*)not connected'
reply = '''
{"thought": "begin", "status": "HOMING", "action": [{"function": "connect", "arguments": {}},
 {"function": "home_arm", "arguments": {}}]}
'''

[[turn]]
agent = "arm"
expect = 'The arm is ready'
reply = '''
{"thought": "the jammed one first", "status": "REACHING", "action": [{"function": "press_key", "arguments": {"key": "7"}}]}
'''

[[turn]]
agent = "arm"
expect = 'not_seen. pressed `7`; the display still shows “”'
reply = '''
{"thought": "type", "status": "TYPED", "result": "typed", "action": [
 {"function": "press_key", "arguments": {"key": "4"}}, {"function": "press_key", "arguments": {"key": "2"}}]}
'''

[[turn]]
agent = "HostAgent"
expect = 'by arm: FINISHED — typed'
reply = '{"thought": "done", "status": "FINISH", "result": "42 is typed"}'
"#;
    let kind = ArmKind::default();
    let (end, lines, _folder) = run_with(kind.clone(), &format!("{ASSIGN}{turns}")).await;
    assert_eq!(end.outcome.unwrap().kind, OutcomeKind::Finished);
    assert_eq!(kind.arm().display(), "42");
    let effects: Vec<Verdict> = events(&lines)
        .filter_map(|event| if let SessionEvent::Returned { result } = event { result.effect } else { None })
        .collect();
    use Verdict::{NotSeen, Seen};
    assert_eq!(effects, [Seen, Seen, NotSeen, Seen, Seen]);
}

#[tokio::test]
async fn separate_process_reports_what_the_display_shows() {
    let check = async |keys: &str, status: SubtaskStatus, expected: &str| {
        let assign = ASSIGN.replace("42", keys);
        let turns = r#"
[[turn]]
agent = "HostAgent"
reply = '{"thought": "that is how it is", "status": "FINISH", "result": "told"}'
"#;
        let program = vec![env!("CARGO_BIN_EXE_robot-arm-agent").to_owned()];
        // This test has no helper that could confine it.
        let sandbox = SandboxSettings::off();
        let kind = McpKind::new(McpSettings { sandbox, ..McpSettings::new("arm", program) });
        let (end, lines, _folder) = run_with(kind, &format!("{assign}{turns}")).await;
        assert_eq!(end.outcome.unwrap().kind, OutcomeKind::Finished);
        let report = events(&lines).find_map(|event| {
            if let SessionEvent::Delegated { report } = event { Some(report) } else { None }
        });
        let report = report.unwrap();
        assert_eq!(report.status, status, "{report:?}");
        assert!(report.result.contains(expected), "{report:?}");
    };
    check("42", SubtaskStatus::Finished, "The display shows “42”").await;
    check("1747", SubtaskStatus::Failed, "pressed `7`; the display still shows “1").await;
    check("4x", SubtaskStatus::Failed, "unknown key `x`").await;
}
