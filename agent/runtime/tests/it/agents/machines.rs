//! Agents on another machine: their work goes on until it is withdrawn.

use std::sync::{Arc, Mutex};

use deskhand_desktop_fake::office;
use deskhand_machine::{
    agent::{AgentHome, AgentReport},
    outcome::OutcomeKind,
    record::JournalEntry,
    session::{StopReason, Suspension},
};
use deskhand_runtime::{
    RunEnd, StopSwitch, WaitReason, Waits,
    agents::{
        AgentError, AgentKind, AgentRegistry, AgentSetup, Assignment, DelegateAgent, DelegateProgress,
        OpenAgent,
    },
    run,
};

use crate::support::{World, script};

const TURNS: &str = r#"
[[turn]]
agent = "HostAgent"
expect = '- \[a1\] agent "scanner" — Scans\.'
reply = '{"thought": "not here", "status": "ASSIGN", "control_label": "a1", "current_subtask": "scan the page"}'
"#;

/// What became of sub-tasks, by their numbers.
#[derive(Clone, Default)]
struct Scanner {
    handed: Arc<Mutex<Vec<String>>>,
    withdrawn: Arc<Mutex<Vec<String>>>,
}

impl AgentKind for Scanner {
    fn name(&self) -> &str {
        "scanner"
    }

    fn introduction(&self) -> String {
        "Scans.".to_owned()
    }

    fn home(&self) -> AgentHome {
        AgentHome::Machine
    }

    async fn open(&self, _: AgentSetup) -> Result<OpenAgent, AgentError> {
        Ok(OpenAgent::delegate(self.clone()))
    }
}

impl DelegateAgent for Scanner {
    async fn work(&self, assignment: Assignment, progress: DelegateProgress) -> AgentReport {
        self.handed.lock().unwrap().push(assignment.number);
        progress.say("box-1 has it");
        std::future::pending().await
    }

    async fn withdraw(&self, number: &str) {
        self.withdrawn.lock().unwrap().push(number.to_owned());
    }

    async fn close(&self) {}
}

/// Hands a sub-task over, and stops the session once it says how far it is.
async fn stopped(reason: StopReason) -> (RunEnd, Scanner) {
    let (scanner, mut registry) = (Scanner::default(), AgentRegistry::default());
    registry.register(scanner.clone()).unwrap();
    let (stop, waits) = (StopSwitch::new(), Waits::default());
    let world = World::new(script(TURNS), Arc::new(office()));
    let mut options = world.options(vec!["Scan it.".to_owned()]);
    options.agents = registry.enable(&["scanner".to_owned()]).unwrap();
    (options.stop, options.waits) = (stop.clone(), waits.clone());
    let mut follows = waits.follow();
    let says = |on: &WaitReason| matches!(on, WaitReason::Agent { state, .. } if state == "box-1 has it");
    let stops = async {
        follows.wait_for(|waiting| waiting.as_ref().is_some_and(|waiting| says(&waiting.on))).await.unwrap();
        stop.cancel(reason);
    };
    let mut nobody = |_: &JournalEntry| {};
    let (end, ()) = tokio::join!(run(options, &mut nobody), stops);
    (end.unwrap(), scanner)
}

#[tokio::test]
async fn who_stops_a_session_withdraws_what_another_machine_works_on() {
    let (end, scanner) = stopped(StopReason::User).await;
    assert_eq!(end.outcome.unwrap().kind, OutcomeKind::Cancelled);
    let handed = scanner.handed.lock().unwrap().clone();
    assert!(handed.len() == 1 && handed[0].starts_with(&format!("{}-", end.session.0)), "{handed:?}");
    assert_eq!(*scanner.withdrawn.lock().unwrap(), handed);
}

#[tokio::test]
async fn a_suspended_session_leaves_another_machine_at_work() {
    let (end, scanner) = stopped(StopReason::Signal).await;
    assert_eq!(end.suspended, Some(Suspension::Signal));
    assert_eq!(scanner.handed.lock().unwrap().len(), 1);
    assert!(scanner.withdrawn.lock().unwrap().is_empty());
}
