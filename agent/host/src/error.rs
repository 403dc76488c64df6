//! Errors of the host: what failed, why, and what to do next.

use std::{io, path::PathBuf};

use deskhand_runtime::{RunError, agents::RegistryError};

use crate::{
    batch::{BatchError, TaskError},
    config::ConfigError,
    demonstration::DemonstrationError,
    knowledge::KnowledgeError,
    local::LocalError,
    model::ModelError,
    schedules::ScheduleError,
    session::SessionError,
    workflows::WorkflowFileError,
    workspace::{DocumentError, WorkspaceError},
};

/// A failed operation of the host. [`HostError::help`] says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A local model cannot be pulled or removed.
    #[error(transparent)]
    Local(#[from] LocalError),
    /// A document cannot be opened.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The desktop did not start, or failed.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A session cannot be found, resumed or forked.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A task file or plan cannot be used.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A batch cannot run, or its results cannot be read or written.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// A kind of agent cannot be registered.
    #[error("failed to {}", deskhand_ui::text::error_chain(.0))]
    Register(RegistryError),
    /// An agent cannot be enabled.
    #[error("failed to set up the agents")]
    Agents(#[source] RegistryError),
    /// A workflow cannot be found, read, learnt or run.
    #[error(transparent)]
    Workflow(#[from] WorkflowFileError),
    /// A schedule cannot be kept, found or run.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The index of help or the experiences cannot be used.
    #[error(transparent)]
    Knowledge(#[from] KnowledgeError),
    /// A demonstration cannot be kept.
    #[error(transparent)]
    Demonstration(#[from] DemonstrationError),
    /// The tools cannot be registered together.
    #[error("failed to set up the tools")]
    Tools(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The journal of a running session could not be written.
    #[error("failed to run the request")]
    Run(#[source] RunError),
    /// A picture could not be written.
    #[error("failed to write {}", path.display())]
    Picture {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

/// Returns the suggested next step for an agent that cannot be opened.
pub fn agent_help(name: &str) -> String {
    let key = if name == "shell" {
        "`agents.shell` configures it".to_owned()
    } else {
        format!("`agents.programs.{name}` or `agents.machines.{name}` configures it")
    };
    format!("{key}; `deskhand doctor` tries it, and `agents.enabled` without `{name}` runs without it")
}

impl HostError {
    /// Returns `true` if the folder of a session, as this machine has it, cannot be read, written or trusted. The same request may run elsewhere.
    pub const fn is_of_its_folder(&self) -> bool {
        matches!(self, Self::Session(SessionError::Journal(_) | SessionError::Hold { .. }))
    }

    /// Returns the suggested next step. A front end may offer a better one, such as a flag.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Config(error) => Some(error.help()),
            Self::Model(error) => Some(error.help()),
            Self::Local(error) => Some(error.help()),
            Self::Document(error) => error.help(),
            Self::Workspace(error) => error.help(),
            Self::Session(error) => error.help(),
            Self::Task(error) => error.help(),
            Self::Batch(error) => error.help(),
            Self::Workflow(error) => error.help(),
            Self::Schedule(error) => error.help(),
            Self::Knowledge(error) => error.help(),
            Self::Agents(_) => Some(
                "`deskhand agents` lists the agents; `agents.enabled` in the configuration enables them"
                    .to_owned(),
            ),
            Self::Run(RunError::Agent(error)) => Some(agent_help(&error.agent)),
            Self::Run(_) => Some(
                "check that the sessions folder is writable, or set another with `sessions.dir`".to_owned(),
            ),
            Self::Demonstration(_) => Some(
                "check the space and permissions there, or set another folder with `knowledge.dir`"
                    .to_owned(),
            ),
            Self::Register(_) | Self::Tools(_) | Self::Picture { .. } => None,
        }
    }

    /// Returns `true` if the caller asked for something impossible, so that nothing was tried.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Config(_) => true,
            Self::Model(error) => error.is_usage(),
            Self::Local(error) => matches!(error, LocalError::Unknown { .. }),
            Self::Task(error) => error.is_usage(),
            Self::Batch(error) => error.is_usage(),
            Self::Workspace(error) => error.is_usage(),
            Self::Workflow(error) => {
                matches!(error, WorkflowFileError::Missing { .. } | WorkflowFileError::Unfit { .. })
            }
            Self::Schedule(error) => error.is_usage(),
            Self::Knowledge(error) => error.is_usage(),
            Self::Document(_)
            | Self::Session(_)
            | Self::Register(_)
            | Self::Agents(_)
            | Self::Tools(_)
            | Self::Run(_)
            | Self::Demonstration(_)
            | Self::Picture { .. } => false,
        }
    }
}
