//! Agents in separate processes: their reports, and reports about their failures.

use std::{path::Path, time::Duration};

use deskhand_machine::{agent::AgentReport, session::SubtaskStatus};
use deskhand_runtime::{
    agents::{
        AgentError, AgentRegistry, Assignment, DelegateProgress, OpenAgents,
        mcp::{McpKind, McpSettings},
    },
    programs::sandbox::SandboxSettings,
};
use deskhand_ui::ids::AgentId;

use super::shell::{Fifo, is_gone};

pub(super) fn printer(mode: &str) -> McpSettings {
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agents/server.py");
    unconfined(McpSettings::new("printer", ["python3", server, mode].map(str::to_owned).to_vec()))
}

fn unconfined(settings: McpSettings) -> McpSettings {
    let sandbox = SandboxSettings::off();
    McpSettings { sandbox, ..settings }
}

async fn open(settings: McpSettings, folder: &Path) -> Result<OpenAgents, AgentError> {
    let mut registry = AgentRegistry::default();
    registry.register(McpKind::new(settings)).unwrap();
    registry.enable(&["printer".to_owned()]).unwrap().open(folder).await
}

fn assignment() -> Assignment {
    Assignment {
        subtask: "print the table".to_owned(),
        message: vec!["two copies".to_owned(), "in colour".to_owned()],
        request: "Print it.".to_owned(),
        ..Assignment::default()
    }
}

async fn work(settings: McpSettings) -> (AgentReport, String) {
    let folder = tempfile::tempdir().unwrap();
    let agents = open(settings, folder.path()).await.unwrap();
    let report = agents.work(AgentId(1), assignment(), DelegateProgress::default()).await;
    agents.close().await;
    (report, agents.definitions()[0].introduction.clone())
}

#[tokio::test]
async fn starts_introduces_itself_and_reports() {
    let (report, introduction) = work(printer("well")).await;
    assert_eq!(introduction, "Prints on paper.");
    assert_eq!(
        (report.status, report.result.as_str()),
        (SubtaskStatus::Finished, "print the table | two copies; in colour | secret: None")
    );
    let named = McpSettings { introduction: Some("Ours.".to_owned()), ..printer("reject") };
    let (report, introduction) = work(named).await;
    assert_eq!((report.status, introduction.as_str()), (SubtaskStatus::Rejected, "Ours."));
}

#[tokio::test]
async fn ignores_garbage_on_its_output() {
    assert_eq!(work(printer("garbage")).await.0.status, SubtaskStatus::Finished);
}

#[tokio::test]
async fn a_crash_fails_the_subtask_and_the_next_restarts_it() {
    let folder = tempfile::tempdir().unwrap();
    let agents = open(printer("crash"), folder.path()).await.unwrap();
    for _ in 0..2 {
        let report = agents.work(AgentId(1), assignment(), DelegateProgress::default()).await;
        assert_eq!(report.status, SubtaskStatus::Failed);
        assert!(report.result.contains("its process exited: exit status: 3"), "{}", report.result);
        assert!(report.result.contains("the paper is out"), "{}", report.result);
    }
    agents.close().await;
}

#[tokio::test]
async fn a_timeout_kills_its_process() {
    let fifo = Fifo::new();
    let settings = McpSettings {
        subtask_timeout: Duration::from_secs(2),
        command: ["env".to_owned(), format!("DESKHAND_TEST_FIFO={}", fifo.path().display())]
            .into_iter()
            .chain(printer("hang").command)
            .collect(),
        ..printer("hang")
    };
    let folder = tempfile::tempdir().unwrap();
    let agents = open(settings, folder.path()).await.unwrap();
    let (report, pid) =
        tokio::join!(agents.work(AgentId(1), assignment(), DelegateProgress::default()), fifo.read());
    assert_eq!(report.status, SubtaskStatus::Failed);
    assert!(report.result.contains("failed to answer within 2 s"), "{}", report.result);
    is_gone(&pid).await;
    agents.close().await;
}

#[tokio::test]
async fn dropping_the_work_kills_its_process() {
    let fifo = Fifo::new();
    let settings = McpSettings {
        command: ["env".to_owned(), format!("DESKHAND_TEST_FIFO={}", fifo.path().display())]
            .into_iter()
            .chain(printer("hang").command)
            .collect(),
        ..printer("hang")
    };
    let folder = tempfile::tempdir().unwrap();
    let agents = open(settings, folder.path()).await.unwrap();
    let pid = tokio::select! {
        report = agents.work(AgentId(1), assignment(), DelegateProgress::default()) => panic!("{report:?}"),
        pid = fifo.read() => pid,
    };
    is_gone(&pid).await;
    agents.close().await;
}

#[tokio::test]
async fn invalid_agents_cannot_be_opened() {
    let check = async |settings: McpSettings, expected: &str| {
        let folder = tempfile::tempdir().unwrap();
        let error = match open(settings, folder.path()).await {
            Ok(_) => panic!("it was opened"),
            Err(error) => error.to_string(),
        };
        assert!(error.starts_with("open agent `printer`: ") && error.contains(expected), "{error}");
    };
    check(printer("no-tool"), "find its tool `work_on_subtask`; it offers: print").await;
    let command = |words: &[&str]| McpSettings {
        start_timeout: Duration::from_secs(3),
        ..unconfined(McpSettings::new("printer", words.iter().map(|word| (*word).to_owned()).collect()))
    };
    check(command(&["deskhand-no-such-program"]), "program `deskhand-no-such-program` not found").await;
    check(command(&[]), "its command is empty").await;
    check(command(&["sh", "-c", "echo out of ink >&2; exit 4"]), "out of ink").await;
    check(command(&["sleep", "600"]), "timed out after 3 s").await;
}
