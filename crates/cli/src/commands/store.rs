//! Where sessions are kept, and finding one of them.

use deskhand_host::config::{Config, state_root};
use deskhand_runtime::{JournalError, SessionFolder, SessionStore};

use super::configuration::load;
use crate::{args::StoreArgs, exit::CliError};

/// The store that the configuration names.
pub(super) fn store_of(config: &Config) -> SessionStore {
    SessionStore::at(state_root(config))
}

/// The store, for commands that need nothing else of the configuration.
pub(super) fn open_store(args: &StoreArgs) -> Result<SessionStore, CliError> {
    Ok(store_of(&load(args.overrides())?.config))
}

/// The session that is meant.
pub(super) fn find(store: &SessionStore, name: &str) -> Result<SessionFolder, CliError> {
    store.find(name).map_err(|error| {
        let problem = CliError::from_error(&error);
        match &error {
            JournalError::NoSession { .. } => no_session(store, name),
            JournalError::Ambiguous { matches, .. } => {
                CliError::new(format!("{} sessions are called `{name}`", matches.len()))
                    .with_help(format!("give more of the id: {}", matches.join(", ")))
            }
            JournalError::File { .. }
            | JournalError::Record { .. }
            | JournalError::NoHeader { .. }
            | JournalError::Version { .. }
            | JournalError::InUse { .. }
            | JournalError::View { .. }
            | JournalError::Encode(_) => problem,
        }
    })
}

fn no_session(store: &SessionStore, name: &str) -> CliError {
    let ids: Vec<String> = store.list().unwrap_or_default().into_iter().map(|id| id.0).collect();
    let error = CliError::new(format!("there is no session `{name}` in {}", store.root().display()));
    if ids.is_empty() {
        return error.with_help("there is none at all yet; `deskhand run` makes the first");
    }
    let nearest = ids
        .iter()
        .max_by(|one, other| strsim::jaro_winkler(one, name).total_cmp(&strsim::jaro_winkler(other, name)));
    match nearest.filter(|id| strsim::jaro_winkler(id, name) > 0.8) {
        Some(id) => error.with_help(format!("did you mean {id}? `deskhand sessions` lists them")),
        None => error.with_help("`deskhand sessions` lists them; `last` is the newest"),
    }
}
