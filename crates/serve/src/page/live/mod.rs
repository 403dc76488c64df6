//! What sessions are doing, for all who watch them. A session is read and attended once, however many watch it.

mod attending;
mod lines;
mod meant;
mod now;
mod session;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use deskhand_runtime::{SessionFolder, SessionStore};

pub(crate) use lines::{SessionLines, ToSession};
pub(crate) use meant::Meant;
pub(crate) use now::{Now, Prompt};
pub(crate) use session::{LiveSession, News};

use super::error::PageError;

/// All sessions that somebody watches.
pub(crate) struct Hub {
    store: SessionStore,
    watched: Mutex<HashMap<String, Weak<LiveSession>>>,
}

impl Hub {
    pub(super) fn new(store: SessionStore) -> Self {
        Self { store, watched: Mutex::default() }
    }

    /// The folder of a session.
    ///
    /// # Errors
    /// There is none of this id. Anything but a whole id is none.
    pub(crate) fn folder(&self, id: &str) -> Result<SessionFolder, PageError> {
        let missing = || PageError::missing(format!("there is no session {id}"));
        let is_id = id.len() > 8 && id.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        let folder = is_id.then(|| self.store.find(id).ok()).flatten().ok_or_else(missing)?;
        if folder.name() == id { Ok(folder) } else { Err(missing()) }
    }

    /// A session to watch. It is let go of once nobody watches it.
    ///
    /// # Errors
    /// There is no such session, or its journal cannot be read.
    pub(crate) async fn session(&self, id: &str) -> Result<Arc<LiveSession>, PageError> {
        let known = |watched: &HashMap<String, Weak<LiveSession>>| {
            watched.get(id).and_then(Weak::upgrade).filter(|session| !session.is_over())
        };
        if let Some(session) = known(&self.lock()) {
            return Ok(session);
        }
        let session = LiveSession::watch(self.folder(id)?).await?;
        let mut watched = self.lock();
        // Somebody else may have been faster.
        if let Some(session) = known(&watched) {
            return Ok(session);
        }
        watched.retain(|_, session| session.strong_count() > 0);
        watched.insert(id.to_owned(), Arc::downgrade(&session));
        Ok(session)
    }

    /// How many watch, all sessions together.
    pub(crate) fn watchers(&self) -> usize {
        self.lock().values().filter_map(Weak::upgrade).map(|session| session.watchers()).sum()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Weak<LiveSession>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
