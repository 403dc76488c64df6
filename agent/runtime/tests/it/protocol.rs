//! The examples in `docs/guides/protocol.md` match the protocol.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use deskhand_machine::{
    agent::AgentRef,
    command::ToolCommand,
    reply::UserQuestion,
    session::{AskedBy, PlannedAction},
};
use deskhand_runtime::people::{
    ApprovalRequest, Frontend as _, InputLine, JsonFrontend, PauseNotice, QuestionRequest, UserInput,
    UserPrompt,
    protocol::{FromSession, ToSession},
};
use deskhand_runtime::{SessionWait, WaitReason};
use deskhand_ui::ids::{EffectId, WindowId};
use serde_json::{Value, json};
use tokio::time::Instant;

/// The lines of the code block after a marker.
fn examples(mark: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/protocol.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once(&format!("<!-- {mark} -->\n```json\n")).unwrap();
    rest.split_once("```").unwrap().0.lines().map(str::to_owned).collect()
}

#[test]
fn documented_input_lines_parse() {
    let lines = examples("to");
    assert!(lines.len() >= 10);
    for line in lines {
        let read: Result<ToSession, _> = serde_json::from_str(&line);
        assert!(read.is_ok(), "{line}: {}", read.unwrap_err());
    }
}

fn questions() -> UserPrompt {
    let format = UserQuestion {
        text: "Which format?".to_owned(),
        required: false,
        default: Some("PNG".to_owned()),
        choices: vec!["PNG".to_owned(), "PDF".to_owned()],
    };
    let questions = vec![format, UserQuestion::open("Which size?")];
    UserPrompt::Questions(QuestionRequest { id: EffectId(7), questions, timeout: None })
}

fn approval() -> UserPrompt {
    let arguments = json!({"id": "e5"}).as_object().unwrap().clone();
    let command = ToolCommand {
        tool: "click_element".to_owned(),
        arguments,
        window: Some(WindowId(1)),
        ..ToolCommand::default()
    };
    UserPrompt::Approval(ApprovalRequest {
        id: EffectId(10),
        agent: AgentRef::from_name("AppAgent/mousepad"),
        actions: vec![PlannedAction {
            command,
            target: Some("push button \"Save\"".to_owned()),
            application: Some("Mousepad".to_owned()),
        }],
        reason: "it overwrites the file".to_owned(),
        asked_by: AskedBy::Model,
        covers: vec!["click_element on Save in Mousepad".to_owned()],
        timeout: Some(Duration::from_secs(30)),
    })
}

#[test]
fn output_lines_match_the_documentation() {
    let written = Arc::new(Mutex::new(Vec::new()));
    let to = written.clone();
    let mut frontend = JsonFrontend::new(Box::new(move |line| {
        to.lock().unwrap().push(serde_json::to_value(line).unwrap());
    }));
    frontend.show(&UserPrompt::Request);
    frontend.show(&questions());
    frontend.show(&approval());
    frontend.withdrawn(&approval());
    frontend.notify(&PauseNotice::Paused { before: "looking at the screen".to_owned() });
    frontend.notify(&PauseNotice::Resumed);
    frontend.notify(&PauseNotice::TakenOver { before: "click_element".to_owned(), watched: true });
    frontend.notify(&PauseNotice::HandedBack);
    for on in [
        WaitReason::Reply {
            model: "openai gpt-5-mini at https://api.openai.com/v1".to_owned(),
            received: 0,
            words: String::new(),
        },
        WaitReason::Reply {
            model: "openai gpt-5-mini at https://api.openai.com/v1".to_owned(),
            received: 812,
            words: "{\"thought\": \"the table".to_owned(),
        },
        WaitReason::Retry {
            model: String::new(),
            reason: "it returned 503".to_owned(),
            at: Instant::now() + Duration::from_secs(60),
            attempt: 2,
            attempts_max: 8,
        },
    ] {
        let (since, at) = (Instant::now(), Duration::from_millis(2_000));
        let waiting = SessionWait { on, since };
        let mut line = serde_json::to_value(FromSession::waiting(&waiting, since + at)).unwrap();
        if let Some(next) = line["next_try_ms"].as_u64() {
            assert!((55_000..=58_000).contains(&next), "{next}");
            line["next_try_ms"] = 57_500.into();
        }
        written.lock().unwrap().push(line);
    }
    for line in ["", " ", r#"{"do": "decide", "id": 9, "approve": "once"}"#] {
        assert_eq!(frontend.parse(&InputLine::Text(line.to_owned()), Some(&approval())), UserInput::Handled);
    }
    let documented: Vec<Value> =
        examples("from").iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(*written.lock().unwrap(), documented);
}
