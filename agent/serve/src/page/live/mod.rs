//! Live state of sessions, for all who watch them. A session is read and attended once, however many watch it.

mod attending;
mod lines;
mod meant;
mod now;
mod session;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use deskhand_runtime::{SessionFolder, SessionStore};
use tokio::task::JoinSet;

pub(crate) use lines::{SessionLines, ToSession};
pub(crate) use meant::PromptPicture;
pub(crate) use now::{LiveSessionStatus, SessionPrompt};
pub(crate) use session::{LiveSession, LiveSessionUpdate};

use super::error::PageApiError;
use crate::fleet::FLEET;

/// All sessions that somebody watches.
pub(crate) struct Hub {
    store: SessionStore,
    watched: Mutex<HashMap<PathBuf, Arc<Watched>>>,
    /// Lines that were sent at once, until they are taken in.
    sent: Mutex<JoinSet<()>>,
}

/// A session that somebody watches, or has watched. Locked while its journal is read for who comes first; who comes meanwhile waits.
type Watched = tokio::sync::Mutex<Weak<LiveSession>>;

impl Hub {
    pub(super) fn new(store: SessionStore) -> Self {
        Self { store, watched: Mutex::default(), sent: Mutex::default() }
    }

    /// The folder of a session.
    ///
    /// # Errors
    /// There is none of this id. Anything but a whole id is none.
    pub(crate) fn folder(&self, id: &str) -> Result<SessionFolder, PageApiError> {
        let missing = || PageApiError::missing(format!("there is no session {id}"));
        if id.starts_with(FLEET) {
            return Err(PageApiError::conflict(
                "that is for sessions of this machine: those of a fleet are watched, answered, cancelled and sent again",
            ));
        }
        let is_id = id.len() > 8 && id.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        let folder = is_id.then(|| self.store.find(id).ok()).flatten().ok_or_else(missing)?;
        if folder.name() == id { Ok(folder) } else { Err(missing()) }
    }

    /// The session in a folder, to watch. It is let go of once nobody watches it.
    ///
    /// # Errors
    /// Its journal cannot be read.
    pub(crate) async fn session(&self, folder: &SessionFolder) -> Result<Arc<LiveSession>, PageApiError> {
        let watched = Arc::clone(self.lock().entry(folder.path().to_owned()).or_default());
        let mut known = watched.lock().await;
        if let Some(session) = known.upgrade().filter(|session| !session.is_over()) {
            return Ok(session);
        }
        let read = LiveSession::watch(folder.clone()).await;
        *known = read.as_ref().map(Arc::downgrade).unwrap_or_default();
        drop(known);
        drop(watched);
        self.lock().retain(|_, watched| Arc::strong_count(watched) > 1 || is_watched(watched));
        read
    }

    /// Sends a line to a running session, without reading its journal first: that of a long session takes longer than a stop may.
    ///
    /// # Errors
    /// The session does not run.
    pub(crate) async fn send_at_once(&self, folder: &SessionFolder, line: &str) -> Result<(), PageApiError> {
        let taken_in = attending::send_at_once(folder, line).await?;
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        while sent.try_join_next().is_some() {}
        sent.spawn(taken_in);
        Ok(())
    }

    /// Returns the number of watchers of all sessions together.
    pub(crate) fn watchers(&self) -> usize {
        let sessions =
            self.lock().values().filter_map(|watched| watched.try_lock().ok()?.upgrade()).collect::<Vec<_>>();
        sessions.iter().map(|session| session.watchers()).sum()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Arc<Watched>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns `true` if somebody holds the session. Who has just asked for it holds the lock, or another reference to it.
fn is_watched(watched: &Watched) -> bool {
    watched.try_lock().is_ok_and(|session| session.strong_count() > 0)
}
