//! Forks a session: a new one with the same first records.

use std::{
    fs,
    path::{Path, PathBuf},
};

use deskhand_core::{policy::Policy, prompt::PromptSet};
use deskhand_runtime::{HeldSession, SessionStore, Unsealed};

use super::{
    Session, SessionError, SessionRequest,
    find::find,
    plan::{Plan, places, policy},
};
use crate::{
    HostError,
    config::{Loaded, PolicySettings},
    prompts::from_folder,
};

/// Where to fork a session, and what to change.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForkRequest {
    /// The session: its id, the start or end of the id, or `last`.
    pub session: String,
    /// The last record to keep.
    pub at: u64,
    /// Whether the records up to there have to be proven.
    pub unsealed: Unsealed,
    /// A folder of prompts. Each file, such as `host_system.md`, replaces the prompt of that name.
    pub prompts: Option<PathBuf>,
    /// A policy to use instead: a TOML file of rules.
    pub policy: Option<PathBuf>,
    /// What to do once the request in progress at that record is done.
    pub request: SessionRequest,
}

pub(crate) fn fork(
    loaded: &Loaded,
    helper: Option<&Path>,
    store: &SessionStore,
    wanted: ForkRequest,
) -> Result<Session, HostError> {
    let source = find(store, &wanted.session)?;
    // Everything is checked before anything is created.
    let policy = wanted.policy.as_deref().map(read_policy).transpose()?;
    if let Some(folder) = &wanted.prompts {
        from_folder(folder, &PromptSet::default())?;
    }
    let held = deskhand_runtime::fork(store, &source, wanted.at, wanted.unsealed)
        .map_err(|error| SessionError::Fork { session: wanted.session.clone(), error })?;
    match plan(loaded, helper, &held, wanted, policy) {
        Ok(plan) => Ok(Session::resumed(plan, held, !loaded.chooses_model(), /*again*/ None)),
        Err(error) => {
            let folder = held.folder().clone();
            drop(held);
            folder.remove().ok();
            Err(error)
        }
    }
}

fn plan(
    loaded: &Loaded,
    helper: Option<&Path>,
    held: &HeldSession,
    wanted: ForkRequest,
    policy: Option<Policy>,
) -> Result<Plan, HostError> {
    let prompts = wanted.prompts;
    let mut plan = Plan::resumed(loaded, helper, wanted.request, held)?;
    if !held.in_round() && plan.requests.is_empty() {
        return Err(SessionError::NothingAfter { session: wanted.session, record: wanted.at }.into());
    }
    if let Some(policy) = policy {
        plan.config.policy = policy;
    }
    if let Some(folder) = prompts {
        plan.prompts = from_folder(&folder, &plan.prompts)?;
    }
    // A missing model is detected before the desktop starts, too.
    plan.model.open()?;
    Ok(plan)
}

pub(crate) fn read_policy(file: &Path) -> Result<Policy, SessionError> {
    let wrong = |source: Box<dyn std::error::Error + Send + Sync>| SessionError::Policy {
        path: file.to_owned(),
        source,
    };
    let text = fs::read_to_string(file).map_err(|error| wrong(error.into()))?;
    let settings: PolicySettings = toml::from_str(&text).map_err(|error| wrong(error.into()))?;
    Ok(policy(&settings, &places()))
}
