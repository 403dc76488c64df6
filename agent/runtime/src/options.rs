//! Options of a session run, and the way the run ends.

use deskhand_desktop::Desktop;
use deskhand_machine::{
    outcome::Outcome,
    prompt::PromptSet,
    session::{ApplyError, SessionConfig, Suspension},
};
use deskhand_model::DynModel;
use deskhand_ui::ids::SessionId;

use crate::{
    agents::{AgentError, EnabledAgents},
    journal::{JournalError, SessionFolder, SessionStore},
    people::{People, UserRequest},
    rank::Ranker,
    retrieve::Retrieve,
    stop::StopSwitch,
    tools::Toolbox,
    waiting::Waits,
};

/// A session that could not run to an outcome. The journal holds everything up to that point.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The journal cannot be written; nothing is done that is not journaled.
    #[error("write the journal")]
    Journal(#[from] JournalError),
    /// An enabled agent cannot be opened; the session did not start.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A secret that the session has typed cannot be read, so that it could not be hidden.
    #[error("read the secret `{name}`, which the session has typed: {reason}")]
    Secret {
        /// Its name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// The machine rejected an event.
    #[error("apply an event to the session")]
    Apply(#[from] ApplyError),
}

/// Options of a session run.
pub struct SessionRunOptions<'a, D: Desktop> {
    /// The id of a new session; `None` for one of its own choice. No other session may have it.
    pub id: Option<SessionId>,
    /// The store of the sessions.
    pub store: &'a SessionStore,
    /// The desktop to work on.
    pub desktop: &'a D,
    /// The display name of the desktop: `virtual 1920x1080`.
    pub desktop_name: String,
    /// The model.
    pub model: &'a dyn DynModel,
    /// The tools.
    pub tools: &'a Toolbox<D>,
    /// Agents without a window that sub-tasks can be assigned to; opened and closed with the session.
    pub agents: EnabledAgents,
    /// The configuration; its tool lists come from `tools`, its agents from `agents`.
    pub config: SessionConfig,
    /// The prompts.
    pub prompts: PromptSet,
    /// The user's requests, in order.
    pub requests: Vec<UserRequest>,
    /// The user channel, which may deliver further requests.
    pub people: People<'a>,
    /// Stops the session.
    pub stop: StopSwitch,
    /// Says what the session waits for.
    pub waits: Waits,
    /// Ranks what small models are offered; without it, shared words decide.
    pub ranker: Option<Ranker>,
    /// Asks retrievers for agents; without it, nothing is found.
    pub retrieve: Option<Retrieve>,
    /// The program and its version, for the journal's header.
    pub program: String,
    /// The setup needed to resume the session, for the journal's header. Must not contain secrets.
    pub setup: serde_json::Value,
}

/// The end of a session run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// The session.
    pub session: SessionId,
    /// Its folder.
    pub folder: SessionFolder,
    /// The outcome of the last round; `None` if there was no request, or the round is not over.
    pub outcome: Option<Outcome>,
    /// Why the session stopped before its round was over; a resumed session goes on with it.
    pub suspended: Option<Suspension>,
}
