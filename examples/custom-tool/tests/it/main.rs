//! The tool in a whole session on the in-memory desktop, called by a scripted model.
#![cfg(test)]

use std::collections::BTreeMap;

use deskhand_desktop_act::ActLimits;
use deskhand_desktop_fake::office;
use deskhand_example_custom_tool::{CountWords, Dice};
use deskhand_machine::{
    outcome::OutcomeKind,
    prompt::PromptSet,
    record::{JournalEntry, JournalRecord},
    session::{SessionConfig, SessionEvent},
};
use deskhand_model::Script;
use deskhand_runtime::{
    SessionRunOptions, SessionStore, StopSwitch, Toolbox, Waits, agents::EnabledAgents, people::People, run,
    sources::EnabledSources,
};
use serde_json::json;

const TURNS: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"thought": "Writer has it", "status": "ASSIGN", "control_label": "{{window "LibreOffice Writer"}}",
 "current_subtask": "count the words"}
'''

[[turn]]
agent = "AppAgent"
expect = 'count_words\(id\)(?s:.*)Counts the words(?s:.*)Tools of the dice on the table'
reply = '''
{"thought": "there is a tool for that", "status": "FINISH", "result": "counted",
 "action": [{"function": "roll_dice", "arguments": {"times": 2}},
            {"function": "count_words", "arguments": {"id": "{{element "document text"}}"}}]}
'''

[[turn]]
agent = "HostAgent"
expect = 'the text has 22 words'
reply = '{"thought": "done", "status": "FINISH", "result": "22 words"}'
"#;

#[tokio::test]
async fn a_model_sees_the_tool_and_calls_it() {
    let folder = tempfile::tempdir().unwrap();
    let (desktop, model) = (office(), Script::parse("count.toml", TURNS, BTreeMap::new()).unwrap());
    let tools = Toolbox::standard(ActLimits::default()).unwrap().with_app_tool::<CountWords>().unwrap();
    let tools = tools.with_sources(EnabledSources::default().with(Dice { rolls: vec![3, 5] }));
    let options = SessionRunOptions {
        id: None,
        store: &SessionStore::at(folder.path().join("sessions"), folder.path().join("seals")),
        desktop: &desktop,
        desktop_name: "fake".to_owned(),
        model: &model,
        tools: &tools,
        agents: EnabledAgents::default(),
        config: SessionConfig::default(),
        prompts: PromptSet::default(),
        requests: vec!["Count the words of the document.".into()],
        people: People::nobody(),
        stop: StopSwitch::new(),
        waits: Waits::default(),
        ranker: None,
        retrieve: None,
        program: "test".to_owned(),
        setup: serde_json::Value::Null,
    };
    let mut outputs = Vec::new();
    let mut watch = |line: &JournalEntry| {
        if let JournalRecord::Event(event) = &line.record
            && let SessionEvent::Returned { result } = &event.event
        {
            outputs.push(result.output.clone());
        }
    };
    let end = run(options, &mut watch).await.unwrap();
    let outcome = end.outcome.unwrap();
    assert_eq!((outcome.kind, outcome.reason.as_str()), (OutcomeKind::Finished, "22 words"));
    assert!(outputs.ends_with(&[json!([3, 5]), json!({"words": 22})]), "{outputs:?}");
}
