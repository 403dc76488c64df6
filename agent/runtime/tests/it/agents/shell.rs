//! The command-line agent: what programs may do, and what is reported.

use std::{path::Path, process::Command as Process, time::Duration};

use deskhand_machine::{
    command::{CallResult, CallStatus, ToolCommand},
    known_tools,
};
use deskhand_runtime::{
    agents::{
        AgentRegistry, OpenAgents,
        shell::{ShellKind, ShellSettings},
    },
    programs::sandbox::SandboxSettings,
};
use deskhand_ui::{action::Verdict, ids::AgentId};
use serde_json::{Value, json};

/// A FIFO on which a program signals that it runs.
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

    /// Waits for a write and returns it.
    pub(super) async fn read(&self) -> String {
        let path = self.path();
        let read = tokio::task::spawn_blocking(move || std::fs::read_to_string(path).unwrap());
        tokio::time::timeout(Duration::from_secs(30), read).await.unwrap().unwrap().trim().to_owned()
    }
}

/// Waits until a process has exited or is a zombie.
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
    tokio::time::timeout(Duration::from_secs(20), ended).await.expect("the process has exited");
}

pub(super) fn unconfined(folder: Option<&Path>) -> ShellSettings {
    ShellSettings {
        folder: folder.map(Path::to_owned),
        sandbox: SandboxSettings::off(),
        ..ShellSettings::default()
    }
}

async fn open(settings: ShellSettings, session: &Path) -> OpenAgents {
    let mut registry = AgentRegistry::default();
    registry.register(ShellKind::new(settings)).unwrap();
    registry.enable(&["shell".to_owned()]).unwrap().open(session).await.unwrap()
}

async fn call(agents: &OpenAgents, arguments: Value) -> CallResult {
    let command = ToolCommand {
        tool: known_tools::RUN_COMMAND.to_owned(),
        arguments: arguments.as_object().cloned().unwrap(),
        agent: Some(AgentId(1)),
        ..ToolCommand::default()
    };
    agents.call(AgentId(1), &command).await
}

#[tokio::test]
async fn arguments_are_verbatim_and_exit_codes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let agents = open(unconfined(None), folder.path()).await;
    let said = call(&agents, json!({"program": "printf", "arguments": ["%s|", "$HOME", "a b", "*", "; ls"]}));
    let said = said.await;
    assert_eq!((said.status, said.effect), (CallStatus::Success, Some(Verdict::Seen)));
    assert_eq!(said.output, json!({"exit_code": 0, "stdout": "$HOME|a b|*|; ls|", "stderr": ""}));

    let check = async |arguments: Value, effect: Verdict, expected: &str| {
        let result = call(&agents, arguments).await;
        assert_eq!((result.status, result.effect), (CallStatus::Failure, Some(effect)), "{result:?}");
        assert!(format!("{} {}", result.summary(), result.output).contains(expected), "{result:?}");
    };
    check(json!({"program": "ls", "arguments": ["nothing-here"]}), Verdict::Unknown, "nothing-here").await;
    check(json!({"program": "false"}), Verdict::Unknown, "`false` exited with code 1").await;
    check(json!({"program": "no-such-program"}), Verdict::Refused, "program `no-such-program` not found")
        .await;
    check(json!({"program": "ls", "folder": "../.."}), Verdict::Refused, "is outside of").await;
    check(json!({"program": "ls", "arguments": "-l"}), Verdict::Refused, "invalid arguments: arguments")
        .await;
    check(json!({"command": "ls"}), Verdict::Refused, "unknown field `command`").await;
    check(
        json!({"program": "sh", "arguments": ["-c", "kill -9 $$"]}),
        Verdict::Unknown,
        "was killed: signal: 9",
    )
    .await;
}

#[tokio::test]
async fn stdin_is_closed_secrets_are_removed_and_output_is_truncated() {
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
    assert!(shown.contains("bytes omitted"), "{shown}");
}

#[tokio::test]
async fn a_timeout_kills_the_program_and_its_descendants() {
    let (folder, fifo) = (tempfile::tempdir().unwrap(), Fifo::new());
    let agents = open(unconfined(None), folder.path()).await;
    // The second process leaves the group of the first.
    let script =
        format!("setsid sh -c 'echo $$ > {}; exec sleep 600' & exec sleep 600", fifo.path().display());
    let arguments = json!({"program": "sh", "arguments": ["-c", script], "timeout_s": 2});
    let (result, pid) = tokio::join!(call(&agents, arguments), fifo.read());
    assert_eq!((result.status, result.effect), (CallStatus::Failure, Some(Verdict::Unknown)));
    assert!(result.summary().contains("timed out after 2 s"), "{}", result.summary());
    is_gone(&pid).await;
}

#[tokio::test]
async fn leftover_processes_are_killed_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let agents = open(unconfined(None), folder.path()).await;
    let arguments = json!({"program": "sh", "arguments": ["-c", "setsid sleep 600 & echo $!"]});
    let result = call(&agents, arguments).await;
    assert_eq!(result.status, CallStatus::Success, "{result:?}");
    assert!(result.summary().contains("killed 1 leftover processes"), "{}", result.summary());
    is_gone(result.output["stdout"].as_str().unwrap().trim()).await;
}

#[tokio::test]
async fn dropping_the_call_kills_the_program() {
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
async fn without_a_sandbox_the_agent_opens_only_if_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let mut registry = AgentRegistry::default();
    registry.register(ShellKind::default()).unwrap();
    let enabled = registry.enable(&["shell".to_owned()]).unwrap();
    let error = match enabled.open(folder.path()).await {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    };
    assert!(error.contains("the kernel cannot sandbox programs"), "{error}");
    let agents = open(unconfined(None), folder.path()).await;
    let observation = agents.observe(AgentId(1), true).await.unwrap();
    assert!(
        observation.text.contains("Programs are not sandboxed") && observation.text.contains("empty"),
        "{observation:?}"
    );
}
