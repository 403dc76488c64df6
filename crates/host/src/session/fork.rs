//! Forks a session: a new one with the same first records.

use std::{
    fs,
    path::{Path, PathBuf},
};

use deskhand_core::{policy::Policy, prompt::PromptSet};
use deskhand_runtime::{HeldSession, SessionStore, Unsealed};
use serde_json::Value;

use super::{
    Session, SessionError, SessionRequest,
    find::find,
    plan::{Plan, places, policy},
};
use crate::{
    HostError,
    config::{Loaded, PolicySettings},
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
    let prompts = wanted.prompts.as_deref().map(Prompts::read).transpose()?;
    let held = deskhand_runtime::fork(store, &source, wanted.at, wanted.unsealed)
        .map_err(|error| SessionError::Fork { session: wanted.session.clone(), error })?;
    match plan(loaded, helper, &held, wanted, policy, prompts.as_ref()) {
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
    prompts: Option<&Prompts>,
) -> Result<Plan, HostError> {
    let mut plan = Plan::resumed(loaded, helper, wanted.request, held)?;
    if !held.in_round() && plan.requests.is_empty() {
        return Err(SessionError::NothingAfter { session: wanted.session, record: wanted.at }.into());
    }
    if let Some(policy) = policy {
        plan.config.policy = policy;
    }
    if let Some(prompts) = prompts {
        plan.prompts = prompts.put_into(&plan.prompts)?;
    }
    // A missing model is detected before the desktop starts, too.
    plan.model.clone().open()?;
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

/// Prompts from a folder, by name.
struct Prompts(Vec<(String, String)>);

impl Prompts {
    fn read(folder: &Path) -> Result<Self, SessionError> {
        let failed = |source| SessionError::Prompts { path: folder.to_owned(), source };
        let mut prompts = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            if file.extension().is_some_and(|extension| extension == "md")
                && let Some(stem) = file.file_stem()
            {
                prompts
                    .push((stem.to_string_lossy().into_owned(), fs::read_to_string(&file).map_err(failed)?));
            }
        }
        if prompts.is_empty() {
            return Err(SessionError::NoPrompts { path: folder.to_owned() });
        }
        Ok(Self(prompts))
    }

    /// Replaces the prompts of the same names.
    fn put_into(&self, prompts: &PromptSet) -> Result<PromptSet, SessionError> {
        let mut value = serde_json::to_value(prompts).map_err(SessionError::PromptSet)?;
        for (name, text) in &self.0 {
            let known = || value.as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect();
            match value.get(name) {
                None => return Err(SessionError::UnknownPrompt { name: name.clone(), known: known() }),
                Some(_) => {
                    if let Some(field) = value.get_mut(name) {
                        *field = Value::from(text.as_str());
                    }
                }
            }
        }
        serde_json::from_value(value).map_err(SessionError::PromptSet)
    }
}
