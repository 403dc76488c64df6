//! Parsing of replies in both spellings, and errors of invalid ones.

use deskhand_machine::{
    reply::{parse_app_reply, parse_host_reply},
    states::{AppStatus, HostStatus},
};

// docs/design/decisions.md, decision 12
#[test]
fn host_reply_accepts_capitalised_field_names() {
    let reply = parse_host_reply(
        r#"{"Observation": "Word and Excel", "Thought": "start with Word", "Current Sub-Task": "Extract the table",
            "Message": "for a chart", "ControlLabel": "0", "ControlText": "Word", "Plan": ["Extract", "Chart"],
            "Status": "ASSIGN", "Comment": "c", "Questions": [], "Function": "select_application_window",
            "Args": {"id": "w1"}}"#,
    )
    .unwrap();
    assert_eq!(reply.status, HostStatus::Assign);
    assert_eq!(reply.subtask.as_deref(), Some("Extract the table"));
    assert_eq!(reply.target.as_deref(), Some("w1"), "the argument of the selection counts");
    assert_eq!(reply.message, ["for a chart"]);
    assert_eq!(reply.action, None);
}

#[test]
fn older_apps_to_open_launches() {
    let reply = parse_host_reply(
        r#"{"Thought": "t", "Status": "ASSIGN", "CurrentSubtask": "s", "AppsToOpen": {"APP": "powerpnt", "file_path": ""}}"#,
    )
    .unwrap();
    let action = reply.action.unwrap();
    assert_eq!(
        (action.function.as_str(), action.arguments["name"].as_str()),
        ("launch_application", Some("powerpnt"))
    );
}

// docs/design/decisions.md, decision 12
#[test]
fn app_reply_accepts_both_spellings() {
    let old = parse_app_reply(
        r#"{"Observation": "o", "Thought": "t", "ControlLabel": 12, "ControlText": "Export",
            "Function": "click_input", "Args": {"button": "left"}, "Status": "SCREENSHOT"}"#,
    );
    let old = old.unwrap();
    assert_eq!((old.status, old.actions.len()), (AppStatus::Screenshot, 1));
    let old = parse_app_reply(
        r#"{"Thought": "t", "ControlLabel": 12, "ControlText": "Export", "Function": "click_input",
            "Args": {"button": "left"}, "Status": "CONTINUE"}"#,
    )
    .unwrap();
    assert_eq!(
        (
            old.actions[0].function.as_str(),
            serde_json::to_string(&old.actions[0].arguments).unwrap().as_str()
        ),
        ("click_element", r#"{"id":"12","name":"Export"}"#)
    );
    let new = parse_app_reply(
        r#"{"observation": "o", "thought": "t", "action": {"function": "click_element", "arguments": {"id": "e1"},
            "status": "FINISH"}}"#,
    )
    .unwrap();
    assert_eq!((new.status, new.actions.len()), (AppStatus::Finish, 1));
}

#[test]
fn errors_name_the_field() {
    let host = |text: &str| parse_host_reply(text).unwrap_err().to_string();
    let app = |text: &str| parse_app_reply(text).unwrap_err().to_string();
    assert_eq!(host("[1]"), "`reply`: expected an object, found a list");
    assert_eq!(
        host(r#"{"thought": "t"}"#),
        "`status`: missing; use one of CONTINUE, ASSIGN, FINISH, FAIL, PENDING, CONFIRM"
    );
    assert_eq!(
        host(r#"{"thought": "t", "status": "ASSIGN", "control_label": "w1"}"#),
        "`current_subtask`: missing; ASSIGN needs the sub-task to assign"
    );
    assert_eq!(
        host(r#"{"thought": "t", "status": "CONTINUE", "plan": [{"a": 1}]}"#),
        "`plan[0]`: expected a string, found an object"
    );
    assert_eq!(
        app(r#"{"thought": "t", "status": "CONTINUE", "action": [{"function": "f", "arguments": 3}]}"#),
        "`action[0].arguments`: expected an object of arguments, found a number"
    );
    assert_eq!(
        app(r#"{"thought": "t", "status": "CONTINUE", "action": [7]}"#),
        "`action[0]`: expected an object, found a number"
    );
    assert_eq!(
        app(r#"{"thought": "t", "status": "PENDING"}"#),
        "`questions`: missing; PENDING needs the questions to ask"
    );
}
