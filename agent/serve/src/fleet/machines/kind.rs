//! The kind of an agent on another machine.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use deskhand_fleet::task::TaskId;
use deskhand_host::config::MachineAgentSettings;
use deskhand_machine::agent::AgentHome;
use deskhand_runtime::agents::{AgentError, AgentKind, AgentSetup, OpenAgent};
use deskhand_ui::text::error_chain;
use tokio::time::timeout;

use super::{
    agent::MachineAgent, compose::task_of, error::MachineError, fit::WorkerCandidates, reach::FleetConnector,
};

/// Maximum time to find out which workers would take a sub-task.
const STANDING: Duration = Duration::from_secs(20);
/// The folder for results in the home folder, beside those of workers.
const RESULTS: &str = "deskhand-fleet/results";

/// An agent that the configuration names.
pub(super) struct MachineKind {
    name: String,
    settings: MachineAgentSettings,
    reach: Arc<FleetConnector>,
}

impl MachineKind {
    pub(super) fn new(name: &str, settings: MachineAgentSettings, reach: Arc<FleetConnector>) -> Self {
        Self { name: name.to_owned(), settings, reach }
    }

    async fn fit(&self) -> Result<String, MachineError> {
        let store = self.reach.store().await?;
        let id = TaskId::new(format!("{}-trial", self.name))?;
        let spec = self.reach.signed(task_of(id.clone(), &self.settings))?;
        let fit =
            WorkerCandidates::of(store, &spec).await.map_err(|source| MachineError::Silent { id, source })?;
        fit.words(&spec.needs).map_err(MachineError::NobodyTakesIt)
    }
}

impl AgentKind for MachineKind {
    fn name(&self) -> &str {
        &self.name
    }

    fn introduction(&self) -> String {
        self.settings.introduction.clone().unwrap_or_else(|| {
            let needs = &self.settings.needs;
            let all = needs.labels.iter().chain(&needs.applications).chain(&needs.agents);
            let all: Vec<&str> = all.map(String::as_str).collect();
            let with = if all.is_empty() { String::new() } else { format!(" with {}", all.join(", ")) };
            format!("Another machine{with}, with a desktop and agents of its own.")
        })
    }

    fn home(&self) -> AgentHome {
        AgentHome::Machine
    }

    async fn standing(&self) -> Option<Result<String, String>> {
        let fit = timeout(STANDING, self.fit()).await;
        let silent = || Err(format!("{} did not answer within {} s", self.reach.shown(), STANDING.as_secs()));
        Some(fit.map_or_else(|_| silent(), |fit| fit.map_err(|error| error_chain(&error))))
    }

    /// The fleet is not asked yet: a session without such a sub-task does not need it.
    async fn open(&self, setup: AgentSetup) -> Result<OpenAgent, AgentError> {
        let results = self.settings.folder.clone().unwrap_or_else(|| Path::new("~").join(RESULTS));
        Ok(OpenAgent::delegate(MachineAgent {
            settings: self.settings.clone(),
            reach: Arc::clone(&self.reach),
            notes: setup.folder,
            documents: setup.documents,
            results: expanded(results),
        }))
    }
}

/// A path with `~` written out.
fn expanded(path: PathBuf) -> PathBuf {
    match path.strip_prefix("~") {
        Ok(below) => std::env::home_dir().unwrap_or_default().join(below),
        Err(_) => path,
    }
}
