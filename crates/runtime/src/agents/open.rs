//! The agents of one session: opened before its first line, closed after its last.

use std::{fs, path::Path, sync::Arc};

use deskhand_core::{
    agent::{AgentDefinition, AgentHome, AgentReport},
    command::{CallResult, Command},
    ids::AgentId,
    observation::ObserveFailure,
    session::SubtaskStatus,
};

use super::kind::{AgentError, AgentSetup, AnyKind, Assignment, Body, OpenAgent, Sight};

/// Agents that are open.
#[derive(Clone, Default)]
pub struct OpenAgents {
    agents: Vec<(AgentDefinition, Body)>,
}

impl OpenAgents {
    pub(super) async fn open(kinds: &[Arc<dyn AnyKind>], folder: &Path) -> Result<Self, AgentError> {
        let mut opened = Self::default();
        for (id, kind) in (1..).zip(kinds) {
            match open_one(AgentId(id), kind.as_ref(), folder).await {
                Ok(agent) => opened.agents.push(agent),
                Err(error) => {
                    opened.close().await;
                    return Err(error);
                }
            }
        }
        Ok(opened)
    }

    /// What core is given of them, for the journal's header.
    pub fn definitions(&self) -> Vec<AgentDefinition> {
        self.agents.iter().map(|(definition, _)| definition.clone()).collect()
    }

    fn body(&self, id: AgentId) -> Option<&Body> {
        self.agents.iter().find(|(definition, _)| definition.id == id).map(|(_, body)| body)
    }

    /// What an agent has before it.
    ///
    /// # Errors
    /// [`ObserveFailure`] when it is not here, or sees nothing.
    pub async fn look(&self, id: AgentId, picture: bool) -> Result<Sight, ObserveFailure> {
        let failure =
            |message: String, gone| ObserveFailure { window_gone: gone, desktop_gone: false, message };
        match self.body(id) {
            Some(Body::Steps(agent)) => agent.look(picture).await.map_err(|message| failure(message, false)),
            Some(Body::Delegate(_)) | None => Err(failure(format!("agent {id} is not here"), true)),
        }
    }

    /// Runs a command of an agent.
    pub async fn call(&self, id: AgentId, command: &Command) -> CallResult {
        match self.body(id) {
            Some(Body::Steps(agent)) => agent.call(command).await,
            Some(Body::Delegate(_)) | None => CallResult::failure(None, format!("agent {id} is not here")),
        }
    }

    /// Hands a sub-task to an agent that lives elsewhere.
    pub async fn work(&self, id: AgentId, assignment: Assignment) -> AgentReport {
        match self.body(id) {
            Some(Body::Delegate(agent)) => agent.work(assignment).await,
            Some(Body::Steps(_)) | None => {
                AgentReport { status: SubtaskStatus::Error, result: format!("agent {id} is not here") }
            }
        }
    }

    /// Closes all of them.
    pub async fn close(&self) {
        for (_, body) in &self.agents {
            match body {
                Body::Steps(agent) => agent.close().await,
                Body::Delegate(agent) => agent.close().await,
            }
        }
    }
}

async fn open_one(
    id: AgentId,
    kind: &dyn AnyKind,
    folder: &Path,
) -> Result<(AgentDefinition, Body), AgentError> {
    let name = kind.name().to_owned();
    let problem = |problem: String| AgentError { agent: name.clone(), problem };
    let folder = folder.join(&name);
    fs::create_dir_all(&folder)
        .map_err(|error| problem(format!("make the folder {}: {error}", folder.display())))?;
    let OpenAgent { introduction, body } = kind.open(AgentSetup { folder }).await?;
    let home = kind.home();
    match (&home, &body) {
        (AgentHome::Steps(_), Body::Steps(_)) | (AgentHome::Delegate, Body::Delegate(_)) => {}
        (AgentHome::Steps(_), Body::Delegate(_)) | (AgentHome::Delegate, Body::Steps(_)) => {
            return Err(problem("it lives elsewhere than its kind says".to_owned()));
        }
    }
    let introduction = introduction.unwrap_or_else(|| kind.introduction());
    let definition = AgentDefinition { id, name: name.clone(), introduction, home };
    definition.check().map_err(|error| problem(error.to_string()))?;
    Ok((definition, body))
}
