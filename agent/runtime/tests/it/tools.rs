//! Tool descriptions as models see them, and errors for invalid arguments.

use std::sync::Arc;

use deskhand_desktop_act::ActLimits;
use deskhand_desktop_fake::{FakeDesktop, office};
use deskhand_machine::{
    command::{CallStatus, ToolCommand, ToolSpec},
    intent::{Does, Takes},
    known_tools,
    policy::Policy,
    prompt::tools_text,
    provenance::Provenance,
    reference::REFERENCE_NAMES,
    workflow::{Heal, Parameter, Workflow, WorkflowRun, WorkflowStep},
};
use deskhand_runtime::{
    Toolbox,
    tools::{ReadWorkflow, Workflows},
};
use deskhand_ui::{action::Verdict, ids::WindowId};
use serde_json::{Value, json};

fn toolbox() -> Toolbox<FakeDesktop> {
    Toolbox::standard(ActLimits::default()).unwrap()
}

/// The workflow that agents of these tests can run.
fn order() -> Workflow {
    let parameter = |default: Option<&str>, example: &str| Parameter {
        example: example.to_owned(),
        default: default.map(str::to_owned),
        ..Parameter::default()
    };
    Workflow {
        format: 1,
        name: "order".to_owned(),
        about: "Order something.".to_owned(),
        request: "Order {amount} for {customer}".to_owned(),
        documents: Vec::new(),
        learnt: None,
        parameters: [
            ("amount".to_owned(), parameter(Some("1"), "12")),
            ("customer".to_owned(), parameter(None, "Acme")),
        ]
        .into(),
        dialogs: Vec::new(),
        steps: vec![WorkflowStep { call: "save".to_owned(), ..WorkflowStep::default() }],
    }
}

/// All tools, with one workflow.
fn toolbox_with_workflow() -> Toolbox<FakeDesktop> {
    let read: ReadWorkflow = Arc::new(|name, given| {
        let workflow = order();
        assert_eq!(name, "order");
        let values = workflow.offer().values(given).map_err(|problem| problem.to_string())?;
        Ok(WorkflowRun { workflow, values, heal: Heal::Off, provenance: Provenance::Made })
    });
    toolbox().with_workflows(Workflows { offers: vec![order().offer()], read }).unwrap()
}

#[test]
fn tool_descriptions() {
    let tools = toolbox();
    insta::assert_snapshot!("host_tools", tools_text(&tools.host_specs()));
    insta::assert_snapshot!("app_tools", tools_text(&tools.app_specs()));
}

#[test]
fn tool_descriptions_of_workflows() {
    let tools = toolbox_with_workflow();
    let told = |specs: Vec<ToolSpec>| {
        let own: Vec<ToolSpec> =
            specs.into_iter().filter(|tool| tool.name == known_tools::RUN_WORKFLOW).collect();
        tools_text(&own)
    };
    insta::assert_snapshot!("host_workflow_tool", told(tools.host_specs()));
    insta::assert_snapshot!("app_workflow_tool", told(tools.app_specs()));
    let none = Workflows { offers: Vec::new(), read: Arc::new(|_, _| Err(String::new())) };
    let tools = toolbox().with_workflows(none).unwrap();
    assert!(tools.host_specs().iter().all(|tool| tool.name != known_tools::RUN_WORKFLOW));
}

#[tokio::test]
async fn a_workflow_is_returned_with_checked_values() {
    let (tools, desktop) = (toolbox_with_workflow(), office());
    let run = async |window: Option<WindowId>, arguments: Value| {
        let command = ToolCommand {
            tool: known_tools::RUN_WORKFLOW.to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            window,
            ..ToolCommand::default()
        };
        tools.run(&desktop, &command, &Policy::default()).await
    };
    for window in [None, desktop.find_window("Writer")] {
        let result = run(window, json!({"name": "order", "parameters": {"customer": "Acme"}})).await;
        assert_eq!(result.status, CallStatus::Success, "{}", result.summary());
        let run: WorkflowRun = serde_json::from_value(result.output).unwrap();
        assert_eq!(run.workflow, order());
        assert_eq!(
            run.values,
            [("amount".to_owned(), "1".to_owned()), ("customer".to_owned(), "Acme".to_owned())].into()
        );
    }
    let check = async |arguments: Value, expected: &str| {
        let result = run(None, arguments).await;
        assert_eq!((result.status, result.effect), (CallStatus::Failure, Some(Verdict::Refused)));
        assert!(result.summary().contains(expected) && result.output.is_null(), "{}", result.summary());
    };
    check(json!({"name": "order"}), "the parameter `customer` is missing").await;
    check(json!({"name": "/etc/passwd", "parameters": {}}), "there is no workflow").await;
    check(json!({"name": "order", "customer": "Acme"}), "there is no argument `customer`").await;
    check(json!({"name": "order", "parameters": {"customer": ["Acme"]}}), "must be a text").await;
}

#[tokio::test]
async fn invalid_arguments_are_refused_with_their_path() {
    let (tools, desktop) = (toolbox(), office());
    let window = desktop.find_window("Writer");
    let check = async |window: Option<WindowId>, tool: &str, arguments: Value, expected: &str| {
        let command = ToolCommand {
            tool: tool.to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            window,
            ..ToolCommand::default()
        };
        let inputs = desktop.inputs();
        let result = tools.run(&desktop, &command, &Policy::default()).await;
        assert_eq!(result.status, CallStatus::Failure);
        assert!(result.summary().contains(expected), "{}", result.summary());
        assert_eq!(desktop.inputs(), inputs, "nothing was sent");
        result
    };
    let result =
        check(window, "click_element", json!({"id": "w1"}), "at `id`: `w1` is not an element id").await;
    assert_eq!(result.effect, Some(Verdict::Refused));
    check(window, "click_element", json!({}), "missing field `id`").await;
    check(window, "click_element", json!({"id": "e1", "colour": 1}), "unknown field `colour`").await;
    check(window, "click_element", json!({"id": "e99999"}), "e99999").await;
    check(window, "press_keys", json!({"keys": "ctrl+hyper+x"}), "is not a key chord").await;
    check(window, "read_table", json!({"range": "C5:A1"}), "`C5:A1` is not a cell").await;
    check(window, "write_table", json!({"rows": [[{"a": 1}]]}), "at `rows[0][0]`").await;
    check(window, "wait_for", json!({"title": "a", "name": "b"}), "pass either a title").await;
    check(None, "select_application_window", json!({"id": "w77"}), "w77").await;
    check(None, "launch_application", json!({"name": "LibreOfice Calc"}), "LibreOffice Calc").await;
}

#[test]
fn tools_that_core_writes_by_name_exist() {
    let tools = toolbox();
    let (host, app) = (tools.host_specs(), tools.app_specs());
    let has = |specs: &[ToolSpec], name: &str| specs.iter().any(|spec| spec.name == name);
    assert!([known_tools::LAUNCH, known_tools::SELECT_WINDOW].iter().all(|name| has(&host, name)));
    let own = [
        known_tools::CLICK,
        known_tools::TYPE,
        known_tools::PRESS_KEYS,
        known_tools::FOCUS,
        known_tools::SCROLL,
        known_tools::READ_TEXT,
    ];
    assert!(own.iter().all(|name| has(&app, name)));
}

/// The arguments that say neither where nor with what.
const PLAIN: [&str; 28] = [
    "action",
    "area",
    "button",
    "checked",
    "clear",
    "count",
    "double",
    "down",
    "duration",
    "expanded",
    "find",
    "format",
    "gone",
    "hold",
    "keep_format",
    "key_hold",
    "page",
    "parameters",
    "range",
    "expression",
    "right",
    "role",
    "rows",
    "seconds",
    "start",
    "title",
    "times",
    "until",
];

#[test]
fn every_tool_declares_what_it_does_and_what_its_arguments_are() {
    let tools = toolbox_with_workflow();
    for spec in tools.host_specs().into_iter().chain(tools.app_specs()) {
        assert_ne!(spec.does, Does::Other, "{}", spec.name);
        let declared = |name: &String| spec.takes.iter().any(|(argument, _)| argument == name);
        let Some(arguments) = spec.parameters["properties"].as_object() else { continue };
        for (name, schema) in arguments {
            assert!(schema.get(Takes::SCHEMA_KEY).is_none(), "{}.{name}: models read it", spec.name);
            let plain = PLAIN.contains(&name.as_str())
                || matches!(
                    (spec.name.as_str(), name.as_str()),
                    ("select_text" | "write_clipboard", "text") | ("wait_for", "name") | ("recall", _)
                );
            assert!(declared(name) != plain, "{}.{name}: declare what it is, or list it as plain", spec.name);
        }
    }
}

/// The page documents every tool and every reference name.
#[test]
fn the_tools_page_is_complete() {
    let page = include_str!("../../../../docs/reference/tools.md");
    let tools = toolbox_with_workflow();
    for spec in tools.host_specs().into_iter().chain(tools.app_specs()) {
        assert!(
            page.contains(&format!("`{}`", spec.name)),
            "docs/reference/tools.md does not document {}",
            spec.name
        );
    }
    for (name, own) in REFERENCE_NAMES {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}(")));
        assert!(
            row.is_some_and(|row| row.contains(&format!("`{own}"))),
            "docs/reference/tools.md: {name} is {own}"
        );
    }
}
