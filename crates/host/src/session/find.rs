//! Finding a session by a name that a person gives it, and taking hold of it.

use deskhand_core::suggest::nearest;
use deskhand_runtime::{HeldSession, JournalError, SessionFolder, SessionStore};

use super::SessionError;

/// The session that is meant: by its id, the beginning or end of it, or `last`.
pub(crate) fn find(store: &SessionStore, name: &str) -> Result<SessionFolder, SessionError> {
    store.find(name).map_err(|error| match error {
        JournalError::NoSession { .. } => no_session(store, name),
        JournalError::Ambiguous { matches, .. } => SessionError::Ambiguous { name: name.to_owned(), matches },
        error @ (JournalError::File { .. }
        | JournalError::Record { .. }
        | JournalError::NoHeader { .. }
        | JournalError::Version { .. }
        | JournalError::InUse { .. }
        | JournalError::View { .. }
        | JournalError::Encode(_)) => SessionError::Journal(error),
    })
}

/// Takes hold of a session: nobody else can write to it from now on.
pub(super) fn hold(folder: SessionFolder) -> Result<HeldSession, SessionError> {
    let session = folder.name();
    HeldSession::take(folder, &mut |_| ()).map_err(|error| SessionError::Hold { session, error })
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
