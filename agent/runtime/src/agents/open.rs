//! The open agents of one session.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use deskhand_machine::{
    agent::{AgentDefinition, AgentHome, AgentReport, INTRODUCTION_CHARS_MAX},
    command::{CallResult, ToolCommand, ToolSpec},
    observation::ObserveFailure,
    prompt::RolePrompts,
    session::SubtaskStatus,
};
use deskhand_ui::{ids::AgentId, text::clip};

use super::kind::{
    AgentError, AgentObservation, AgentSetup, AnyKind, Assignment, DelegateProgress, OpenAgent, OpenAgentBody,
};
use crate::private;

/// Open agents.
#[derive(Clone, Default)]
pub struct OpenAgents {
    agents: Vec<(AgentDefinition, OpenAgentBody)>,
}

impl OpenAgents {
    pub(super) async fn open(
        kinds: &[Arc<dyn AnyKind>],
        folder: &Path,
        documents: &[PathBuf],
    ) -> Result<Self, AgentError> {
        let mut opened = Self::default();
        for (id, kind) in (1..).zip(kinds) {
            match open_one(AgentId(id), kind.as_ref(), (folder, documents)).await {
                Ok(agent) => opened.agents.push(agent),
                Err(error) => {
                    opened.close().await;
                    return Err(error);
                }
            }
        }
        Ok(opened)
    }

    /// Gives agents of these names other prompts.
    pub(super) fn take_prompts(&mut self, prompts: &BTreeMap<String, RolePrompts>) {
        for (definition, _) in &mut self.agents {
            if let (Some(prompts), AgentHome::Steps(steps)) =
                (prompts.get(&definition.name), &mut definition.home)
            {
                prompts.put_into(steps);
            }
        }
    }

    /// The definitions of the agents, for the journal's header.
    pub fn definitions(&self) -> Vec<AgentDefinition> {
        self.agents.iter().map(|(definition, _)| definition.clone()).collect()
    }

    /// The same with further tools, which the runtime runs, for agents that take steps and have none of that name.
    pub(crate) fn definitions_with(&self, tools: &[ToolSpec]) -> Vec<AgentDefinition> {
        let mut definitions = self.definitions();
        for definition in &mut definitions {
            if let AgentHome::Steps(steps) = &mut definition.home {
                let further: Vec<ToolSpec> = tools
                    .iter()
                    .filter(|tool| steps.tools.iter().all(|own| own.name != tool.name))
                    .cloned()
                    .collect();
                steps.tools.extend(further);
            }
        }
        definitions
    }

    /// Returns `true` if an agent itself has a tool of this name.
    pub(crate) fn has_tool(&self, id: AgentId, name: &str) -> bool {
        let own = self.agents.iter().find(|(definition, _)| definition.id == id);
        own.is_some_and(|(definition, _)| match &definition.home {
            AgentHome::Steps(steps) => steps.tools.iter().any(|tool| tool.name == name),
            AgentHome::Delegate | AgentHome::Machine => false,
        })
    }

    fn body(&self, id: AgentId) -> Option<&OpenAgentBody> {
        self.agents.iter().find(|(definition, _)| definition.id == id).map(|(_, body)| body)
    }

    /// Observes what an agent sees.
    ///
    /// # Errors
    /// [`ObserveFailure`] if the agent is not open or the observation fails.
    pub async fn observe(&self, id: AgentId, picture: bool) -> Result<AgentObservation, ObserveFailure> {
        let failure =
            |message: String, gone| ObserveFailure { window_gone: gone, desktop_gone: false, message };
        match self.body(id) {
            Some(OpenAgentBody::Steps(agent)) => {
                agent.observe(picture).await.map_err(|message| failure(message, false))
            }
            Some(OpenAgentBody::Delegate(_)) | None => Err(failure(format!("agent {id} is not open"), true)),
        }
    }

    /// Runs a command with a tool of an agent.
    pub async fn call(&self, id: AgentId, command: &ToolCommand) -> CallResult {
        match self.body(id) {
            Some(OpenAgentBody::Steps(agent)) => agent.call(command).await,
            Some(OpenAgentBody::Delegate(_)) | None => {
                CallResult::failure(None, format!("agent {id} is not open"))
            }
        }
    }

    /// Delegates a sub-task to an agent.
    pub async fn work(&self, id: AgentId, assignment: Assignment, progress: DelegateProgress) -> AgentReport {
        match self.body(id) {
            Some(OpenAgentBody::Delegate(agent)) => agent.work(assignment, progress).await,
            Some(OpenAgentBody::Steps(_)) | None => {
                AgentReport { status: SubtaskStatus::Error, result: format!("agent {id} is not open") }
            }
        }
    }

    /// Ends work that goes on elsewhere.
    pub async fn withdraw(&self, id: AgentId, number: &str) {
        if let Some(OpenAgentBody::Delegate(agent)) = self.body(id) {
            agent.withdraw(number).await;
        }
    }

    /// Closes all agents.
    pub async fn close(&self) {
        for (_, body) in &self.agents {
            match body {
                OpenAgentBody::Steps(agent) => agent.close().await,
                OpenAgentBody::Delegate(agent) => agent.close().await,
            }
        }
    }
}

async fn open_one(
    id: AgentId,
    kind: &dyn AnyKind,
    (folder, documents): (&Path, &[PathBuf]),
) -> Result<(AgentDefinition, OpenAgentBody), AgentError> {
    let name = kind.name().to_owned();
    let problem = |problem: String| AgentError { agent: name.clone(), problem };
    let folder = folder.join(&name);
    private::create_folders(&folder)
        .map_err(|error| problem(format!("create folder {}: {error}", folder.display())))?;
    let OpenAgent { introduction, body } =
        kind.open(AgentSetup { folder, documents: documents.to_vec() }).await?;
    let home = kind.home();
    match (&home, &body) {
        (AgentHome::Steps(_), OpenAgentBody::Steps(_))
        | (AgentHome::Delegate | AgentHome::Machine, OpenAgentBody::Delegate(_)) => {}
        (AgentHome::Steps(_), OpenAgentBody::Delegate(_))
        | (AgentHome::Delegate | AgentHome::Machine, OpenAgentBody::Steps(_)) => {
            return Err(problem("the agent and its kind declare different homes".to_owned()));
        }
    }
    // A server may say anything of itself.
    let introduction = introduction.unwrap_or_else(|| kind.introduction());
    let introduction = clip(&introduction, INTRODUCTION_CHARS_MAX);
    let definition = AgentDefinition { id, name: name.clone(), introduction, home };
    definition.check().map_err(|error| problem(error.to_string()))?;
    Ok((definition, body))
}
