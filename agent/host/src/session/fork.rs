//! Forks a session: a new one with the same first records.

use std::path::PathBuf;

use deskhand_machine::prompt::PromptSet;
use deskhand_runtime::{HeldSession, SessionStore, UnsealedJournalPolicy};

use super::{PreparedSession, SessionError, SessionRequest, find::find, plan::SessionPlan};
use crate::{HostError, agents::HostResources, config::LoadedConfig, prompts::from_folder};

/// Position at which to fork a session, and the changes to make.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForkRequest {
    /// The session: its id, the start or end of the id, or `last`.
    pub session: String,
    /// The last record to keep.
    pub at: u64,
    /// Handling of records up to that position that are not proven.
    pub unsealed: UnsealedJournalPolicy,
    /// A folder of prompts. Each file, such as `host_system.md`, replaces the prompt of that name.
    pub prompts: Option<PathBuf>,
    /// Work that follows once the request in progress at that record is done.
    pub request: SessionRequest,
}

pub(crate) fn fork(
    loaded: &LoadedConfig,
    means: HostResources<'_>,
    store: &SessionStore,
    wanted: ForkRequest,
) -> Result<PreparedSession, HostError> {
    let source = find(store, &wanted.session)?;
    // Everything is checked before anything is created.
    if let Some(folder) = &wanted.prompts {
        from_folder(folder, &PromptSet::default())?;
    }
    let held = deskhand_runtime::fork(store, &source, wanted.at, wanted.unsealed)
        .map_err(|error| SessionError::Fork { session: wanted.session.clone(), error })?;
    match plan(loaded, means, &held, wanted) {
        Ok(plan) => Ok(PreparedSession::resumed(plan, held, !loaded.chooses_model(), /*again*/ None)),
        Err(error) => {
            let folder = held.folder().clone();
            drop(held);
            folder.remove().ok();
            Err(error)
        }
    }
}

fn plan(
    loaded: &LoadedConfig,
    means: HostResources<'_>,
    held: &HeldSession,
    wanted: ForkRequest,
) -> Result<SessionPlan, HostError> {
    let prompts = wanted.prompts;
    let mut plan = SessionPlan::resumed(loaded, means, wanted.request, held)?;
    if !held.in_round() && plan.requests.is_empty() {
        return Err(SessionError::NothingAfter { session: wanted.session, record: wanted.at }.into());
    }
    if let Some(folder) = prompts {
        plan.prompts = from_folder(&folder, &plan.prompts)?;
    }
    // A missing model is detected before the desktop starts, too.
    plan.model.open()?;
    Ok(plan)
}
