//! The agent of the command line: what programs may do, and what is said of them.

use std::{path::Path, process::Command as Process, time::Duration};

use deskhand_core::{
    command::{CallResult, CallStatus, Command, Verdict},
    ids::AgentId,
    known_tools,
};
use deskhand_runtime::agents::{
    AgentRegistry, OpenAgents,
    shell::{SandboxMode, ShellKind, ShellSettings},
};
use serde_json::{Value, json};

/// Where a program says that it has begun.
pub(super) struct Fifo(tempfile::TempDir);

impl Fifo {
    pub(super) fn new() -> Self {
        let fifo = Self(tempfile::tempdir().unwrap());
        assert!(Process::new("mkfifo").arg(fifo.path()).status().unwrap().success());
        fifo
    }

    pub(super) fn path(&self) -> std::path::PathBuf {
        self.0.path().join("begun")
    }

    /// Waits until something is written, and returns it.
    pub(super) async fn read(&self) -> String {
        let path = self.path();
        let read = tokio::task::spawn_blocking(move || std::fs::read_to_string(path).unwrap());
        tokio::time::timeout(Duration::from_secs(30), read).await.unwrap().unwrap().trim().to_owned()
    }
}

/// Waits until a process is gone, or waits to be collected by its parent.
pub(super) async fn is_gone(pid: &str) {
    let runs = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    let ended = async {
        while runs() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.expect("the process has ended");
}

pub(super) fn unconfined(folder: Option<&Path>) -> ShellSettings {
    ShellSettings {
        folder: folder.map(Path::to_owned),
        sandbox: SandboxMode::Off,
        ..ShellSettings::default()
    }
}

async fn open(settings: ShellSettings, session: &Path) -> OpenAgents {
    let mut registry = AgentRegistry::default();
    registry.register(ShellKind::new(settings)).unwrap();
    registry.enable(&["shell".to_owned()]).unwrap().open(session).await.unwrap()
}

async fn call(agents: &OpenAgents, arguments: Value) -> CallResult {
    let command = Command {
        tool: known_tools::RUN_COMMAND.to_owned(),
        arguments: arguments.as_object().cloned().unwrap(),
        window: None,
        agent: Some(AgentId(1)),
    };
    agents.call(AgentId(1), &command).await
}

#[tokio::test]
async fn a_program_gets_its_arguments_as_they_are_and_its_end_is_told_truly() {
    let folder = tempfile::tempdir().unwrap();
    let agents = open(unconfined(None), folder.path()).await;
    let said = call(&agents, json!({"program": "printf", "arguments": ["%s|", "$HOME", "a b", "*", "; ls"]}));
    let said = said.await;
    assert_eq!((said.status, said.effect), (CallStatus::Success, Some(Verdict::Seen)));
    assert_eq!(said.output, json!({"exit_code": 0, "stdout": "$HOME|a b|*|; ls|", "stderr": ""}));

    let check = async |arguments: Value, effect: Verdict, expected: &str| {
        let result = call(&agents, arguments).await;
        assert_eq!((result.status, result.effect), (CallStatus::Failure, Some(effect)), "{result:?}");
        assert!(format!("{} {}", result.summary, result.output).contains(expected), "{result:?}");
    };
    check(json!({"program": "ls", "arguments": ["nothing-here"]}), Verdict::Unknown, "nothing-here").await;
    check(json!({"program": "false"}), Verdict::Unknown, "`false` ended with exit code 1").await;
    check(json!({"program": "no-such-program"}), Verdict::Refused, "no program `no-such-program`").await;
    check(json!({"program": "ls", "folder": "../.."}), Verdict::Refused, "is not below").await;
    check(json!({"program": "ls", "arguments": "-l"}), Verdict::Refused, "do not fit: arguments").await;
    check(json!({"command": "ls"}), Verdict::Refused, "unknown field `command`").await;
    check(
        json!({"program": "sh", "arguments": ["-c", "kill -9 $$"]}),
        Verdict::Unknown,
        "was ended: signal: 9",
    )
    .await;
}

#[tokio::test]
async fn input_is_closed_secrets_stay_out_and_long_output_keeps_its_ends() {
    let folder = tempfile::tempdir().unwrap();
    let agents = open(unconfined(None), folder.path()).await;
    let result = call(&agents, json!({"program": "cat"})).await;
    assert_eq!(result.output["stdout"], "");
    let result = call(&agents, json!({"program": "env"})).await;
    let variables = result.output["stdout"].as_str().unwrap();
    let names: Vec<&str> = variables.lines().filter_map(|line| line.split('=').next()).collect();
    let usual = ["HOME", "LANG", "LOGNAME", "PATH", "TERM", "TMPDIR", "TZ", "USER", "DESKHAND_AGENT_PROCESS"];
    assert!(names.iter().all(|name| usual.contains(name) || name.starts_with("LC_")), "{names:?}");
    let result = call(&agents, json!({"program": "seq", "arguments": ["100000"]})).await;
    let shown = result.output["stdout"].as_str().unwrap();
    assert!(shown.starts_with("1\n2\n") && shown.ends_with("100000\n") && shown.len() < 5_000, "{shown}");
    assert!(shown.contains("bytes left out"), "{shown}");
}

#[tokio::test]
async fn a_program_that_takes_too_long_is_ended_with_what_it_started() {
    let (folder, fifo) = (tempfile::tempdir().unwrap(), Fifo::new());
    let agents = open(unconfined(None), folder.path()).await;
    // The second one leaves the group of the first.
    let script =
        format!("setsid sh -c 'echo $$ > {}; exec sleep 600' & exec sleep 600", fifo.path().display());
    let arguments = json!({"program": "sh", "arguments": ["-c", script], "timeout_s": 2});
    let (result, pid) = tokio::join!(call(&agents, arguments), fifo.read());
    assert_eq!((result.status, result.effect), (CallStatus::Failure, Some(Verdict::Unknown)));
    assert!(result.summary.contains("did not end within 2 s"), "{}", result.summary);
    is_gone(&pid).await;
}

#[tokio::test]
async fn what_a_program_leaves_running_is_ended_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let agents = open(unconfined(None), folder.path()).await;
    let arguments = json!({"program": "sh", "arguments": ["-c", "setsid sleep 600 & echo $!"]});
    let result = call(&agents, arguments).await;
    assert_eq!(result.status, CallStatus::Success, "{result:?}");
    assert!(result.summary.contains("what it had left running was ended (1)"), "{}", result.summary);
    is_gone(result.output["stdout"].as_str().unwrap().trim()).await;
}

#[tokio::test]
async fn a_program_that_is_given_up_is_ended() {
    let (folder, fifo) = (tempfile::tempdir().unwrap(), Fifo::new());
    let agents = open(unconfined(None), folder.path()).await;
    let script = format!("echo $$ > {}; exec sleep 600", fifo.path().display());
    let pid = tokio::select! {
        result = call(&agents, json!({"program": "sh", "arguments": ["-c", script]})) => panic!("{result:?}"),
        pid = fifo.read() => pid,
    };
    is_gone(&pid).await;
}

#[tokio::test]
async fn without_what_confines_programs_the_agent_is_not_opened_unless_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let mut registry = AgentRegistry::default();
    registry.register(ShellKind::default()).unwrap();
    let enabled = registry.enable(&["shell".to_owned()]).unwrap();
    let error = match enabled.open(folder.path()).await {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    };
    assert!(error.contains("programs cannot be confined here"), "{error}");
    let agents = open(unconfined(None), folder.path()).await;
    let sight = agents.look(AgentId(1), true).await.unwrap();
    assert!(sight.text.contains("Programs are not confined") && sight.text.contains("empty"), "{sight:?}");
}
