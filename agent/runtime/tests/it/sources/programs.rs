//! Programs as tools.

use std::{path::Path, time::Duration};

use deskhand_machine::{
    command::{CallResult, CallStatus, ToolCommand},
    intent::{Does, Takes},
    policy::{PathRoots, Policy},
};
use deskhand_runtime::{
    programs::sandbox::SandboxSettings,
    sources::{
        ArgumentKind, EnabledSources, OpenSources, ProgramArgument, ProgramInput, ProgramTool, ToolAudience,
    },
};
use deskhand_ui::{action::Verdict, ids::WindowId};
use serde_json::{Value, json};

fn program(command: &[&str], arguments: &[(&str, ArgumentKind)]) -> ProgramTool {
    let argument = |(name, kind): &(&str, ArgumentKind)| {
        ((*name).to_owned(), ProgramArgument { kind: *kind, ..ProgramArgument::default() })
    };
    ProgramTool {
        name: "convert".to_owned(),
        description: "Converts.".to_owned(),
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        arguments: arguments.iter().map(argument).collect(),
        input: ProgramInput::Nothing,
        does: Does::Read,
        audience: vec![ToolAudience::Apps(vec!["libreoffice-*".to_owned()])],
        folder: None,
        sandbox: SandboxSettings::off(),
        environment: Vec::new(),
        variables: Vec::new(),
        timeout: Duration::from_secs(30),
    }
}

async fn open(tool: ProgramTool, folder: &Path) -> OpenSources {
    let open = EnabledSources::default().with(tool).open(folder, &[]).await;
    assert_eq!(open.problems(), [""; 0]);
    open
}

async fn call(tool: ProgramTool, arguments: Value) -> CallResult {
    let folder = tempfile::tempdir().unwrap();
    let sources = open(tool, folder.path()).await;
    let command = ToolCommand {
        tool: "convert".to_owned(),
        arguments: arguments.as_object().cloned().unwrap(),
        window: Some(WindowId(1)),
        ..ToolCommand::default()
    };
    sources.call(&command, &Policy::default(), &PathRoots::default()).await
}

#[tokio::test]
async fn it_gets_its_arguments_as_words_and_returns_what_it_prints() {
    let tool = program(
        &["printf", "%s|%s", "{amount}", "to {currency}"],
        &[("amount", ArgumentKind::Number), ("currency", ArgumentKind::Text)],
    );
    let done = call(tool, json!({"amount": 2.5, "currency": "EUR; rm -rf /"})).await;
    assert_eq!((done.status, done.effect), (CallStatus::Success, None), "{done:?}");
    assert_eq!(done.output, json!({"from": "program printf", "text": "2.5|to EUR; rm -rf /"}));
}

#[tokio::test]
async fn json_goes_in_and_comes_out() {
    let tool = ProgramTool {
        input: ProgramInput::Json,
        does: Does::Other,
        ..program(&["cat"], &[("city", ArgumentKind::Text)])
    };
    let done = call(tool, json!({"city": "Bergen"})).await;
    // What it does is not seen.
    assert_eq!((done.status, done.effect), (CallStatus::Success, Some(Verdict::Unknown)));
    assert_eq!(done.output["data"], json!({"city": "Bergen"}));
}

#[tokio::test]
async fn what_goes_wrong_is_said() {
    let failed = call(program(&["sh", "-c", "echo no such city >&2; exit 4"], &[]), json!({})).await;
    assert_eq!(failed.status, CallStatus::Failure);
    assert!(failed.summary().contains("exited with code 4"), "{}", failed.summary());
    assert_eq!(failed.output["stderr"], "no such city\n");
    let late = ProgramTool { timeout: Duration::from_secs(1), ..program(&["sleep", "600"], &[]) };
    let late = call(late, json!({})).await;
    assert!(late.summary().contains("timed out after 1 s"), "{}", late.summary());
    let missing = call(program(&["deskhand-no-such-program"], &[]), json!({})).await;
    assert!(missing.summary().contains("not found; nothing was done"), "{}", missing.summary());
    let wrong = call(program(&["cat", "{n}"], &[("n", ArgumentKind::Integer)]), json!({"n": "x"})).await;
    assert!(wrong.summary().starts_with("invalid arguments"), "{}", wrong.summary());
}

#[tokio::test]
async fn the_policy_knows_its_files_and_who_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let tool = ProgramTool { does: Does::Save, ..program(&["true"], &[("file", ArgumentKind::NewFile)]) };
    let sources = open(tool, folder.path()).await;
    let spec = &sources.app_specs()[0];
    assert_eq!((spec.does, spec.takes.as_slice()), (Does::Save, &[("file".to_owned(), Takes::File)][..]));
    assert_eq!(spec.only_in, ["libreoffice-*"]);
    assert!(sources.host_specs().is_empty());
}
