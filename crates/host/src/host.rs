//! The host: one configuration, and everything that can be done with it.

use std::path::{Path, PathBuf};

use deskhand_runtime::{SessionFolder, SessionStore, agents::KindInfo};

use crate::{
    BatchRequest, ForkRequest, HostError, Session, SessionRequest, Tasks, WorkspacePlan, agents, batch,
    config::{self, Config, Loaded, Sources, state_root},
    session::{self, Plan},
};

/// Starts, resumes and forks sessions under one configuration. Cheap to make, and holds nothing open.
#[derive(Debug, Clone)]
pub struct Host {
    loaded: Loaded,
    helper: Option<PathBuf>,
}

impl Host {
    /// Reads the configuration.
    ///
    /// # Errors
    /// [`HostError::Config`] names the place of what is wrong.
    pub fn load(sources: &Sources) -> Result<Self, HostError> {
        Ok(Self { loaded: config::load(sources)?, helper: None })
    }

    /// A host under a configuration that the caller made.
    pub fn new(config: &Config) -> Self {
        Self { loaded: Loaded::of(config), helper: None }
    }

    /// The same with a program that holds desktops beyond the death of this process and confines programs of the shell
    /// agent: `deskhand`, or one that understands [`KEEPER_ARGUMENTS`](crate::workspace::KEEPER_ARGUMENTS) and
    /// [`SANDBOX_ARGUMENT`](crate::SANDBOX_ARGUMENT). Without it, desktops end with this process, and the shell agent
    /// cannot be enabled while it must be confined.
    #[must_use]
    pub fn with_helper(self, program: impl Into<PathBuf>) -> Self {
        Self { helper: Some(program.into()), ..self }
    }

    /// The configuration, and where its values come from.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.loaded.config
    }

    /// The sessions so far.
    pub fn sessions(&self) -> SessionStore {
        SessionStore::at(state_root(self.config()))
    }

    /// One of them, by its id, the beginning or end of it, or `last`.
    ///
    /// # Errors
    /// None or several are called so.
    pub fn find(&self, name: &str) -> Result<SessionFolder, HostError> {
        Ok(session::find(&self.sessions(), name)?)
    }

    /// A new session. Everything about it that can be is checked now, and nothing is started.
    ///
    /// # Errors
    /// No model is named, a document cannot be opened, or there is no display where the current desktop is wanted.
    pub fn start(&self, request: impl Into<SessionRequest>) -> Result<Session, HostError> {
        let plan = Plan::new(self.config(), self.helper(), request.into())?;
        Ok(Session::new(plan.kept(self.config(), self.helper())))
    }

    /// A session that goes on where its journal ends.
    ///
    /// # Errors
    /// There is no such session, it is in use, or there is nothing to go on with.
    pub fn resume(&self, name: &str, request: impl Into<SessionRequest>) -> Result<Session, HostError> {
        session::resume(&self.loaded, self.helper(), &self.sessions(), name, request.into())
    }

    /// A new session with the first records of another one.
    ///
    /// # Errors
    /// There is no such session or record, something was going on there, or there is nothing to go on with.
    pub fn fork(&self, request: ForkRequest) -> Result<Session, HostError> {
        session::fork(&self.loaded, self.helper(), &self.sessions(), request)
    }

    /// Many tasks, each in a session of its own.
    ///
    /// # Errors
    /// A task cannot be read or run, or there are results already.
    pub fn batch(&self, request: &BatchRequest) -> Result<Tasks, HostError> {
        let tasks = batch::read_tasks(&request.tasks)?;
        let base = Plan::new(self.config(), self.helper(), request.session.clone())?;
        batch::batch(request, tasks, &base)
    }

    /// A plan, or a folder of plans, each followed step by step in a session of its own.
    ///
    /// # Errors
    /// A plan cannot be read, or a document cannot be opened.
    pub fn follow(&self, plans: &Path, request: impl Into<SessionRequest>) -> Result<Tasks, HostError> {
        let tasks = batch::read_plans(plans)?;
        let base = Plan::new(self.config(), self.helper(), request.into())?;
        batch::follow(tasks, &base)
    }

    /// A desktop to look at or to act on by hand.
    ///
    /// # Errors
    /// A document cannot be opened, or there is no display where the current desktop is wanted.
    pub fn workspace(&self, open: &[PathBuf], launch: Option<&str>) -> Result<WorkspacePlan, HostError> {
        WorkspacePlan::by_hand(self.config(), open, launch)
    }

    /// The kinds of agents that sub-tasks can be handed to, each with whether it is enabled.
    ///
    /// # Errors
    /// One that is configured or enabled cannot be.
    pub fn agents(&self) -> Result<Vec<(KindInfo, bool)>, HostError> {
        let settings = &self.config().agents;
        agents::enable(settings, self.helper(), &settings.enabled)?;
        let kinds = agents::registry(settings, self.helper())?.kinds();
        let is_enabled = |kind: &KindInfo| settings.enabled.contains(&kind.name);
        Ok(kinds
            .into_iter()
            .map(|kind| {
                let enabled = is_enabled(&kind);
                (kind, enabled)
            })
            .collect())
    }

    fn helper(&self) -> Option<&Path> {
        self.helper.as_deref()
    }
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
