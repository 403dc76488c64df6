//! Finds a session by name, and locks it.

use deskhand_runtime::{HeldSession, JournalError, SessionFolder, SessionStore, UnsealedJournalPolicy};
use deskhand_ui::suggest::nearest;

use super::SessionError;

/// Finds a session by its id, the start or end of the id, or `last`.
pub(crate) fn find(store: &SessionStore, name: &str) -> Result<SessionFolder, SessionError> {
    store.find(name).map_err(|error| match error {
        JournalError::NoSession { .. } => no_session(store, name),
        JournalError::Ambiguous { matches, .. } => SessionError::Ambiguous { name: name.to_owned(), matches },
        error @ (JournalError::File { .. }
        | JournalError::Record { .. }
        | JournalError::NoHeader { .. }
        | JournalError::NoRecord { .. }
        | JournalError::Emptied { .. }
        | JournalError::Version { .. }
        | JournalError::InUse { .. }
        | JournalError::View { .. }
        | JournalError::TooLong { .. }
        | JournalError::Key { .. }
        | JournalError::Encode(_)) => SessionError::Journal(error),
    })
}

/// Locks a session; no other process can write to it.
pub(super) fn hold(
    folder: SessionFolder,
    unsealed: UnsealedJournalPolicy,
) -> Result<HeldSession, SessionError> {
    let session = folder.name();
    HeldSession::take(folder, unsealed, &mut |_| ()).map_err(|error| SessionError::Hold { session, error })
}

fn no_session(store: &SessionStore, name: &str) -> SessionError {
    let ids: Vec<String> = store.list().unwrap_or_default().into_iter().map(|id| id.0).collect();
    SessionError::Missing {
        name: name.to_owned(),
        root: store.root().to_owned(),
        is_empty: ids.is_empty(),
        nearest: nearest(name, ids),
    }
}
