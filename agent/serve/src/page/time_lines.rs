//! The time lines that were looked at last: of a session that goes on, only what is new is read.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use deskhand_host::{Host, HostError};
use deskhand_runtime::{
    SessionFolder,
    moments::{FollowedMoments, SessionMoments},
};

use super::error::PageApiError;

/// The most that are kept.
const KEPT_MAX: usize = 16;

/// One that is read by one request at a time.
type Followed = Arc<Mutex<FollowedMoments>>;

/// Time lines, the one that was looked at last at the end.
#[derive(Default)]
pub(crate) struct TimeLines(Mutex<VecDeque<(PathBuf, Followed)>>);

impl TimeLines {
    /// The moments of a session so far. Blocking.
    ///
    /// # Errors
    /// There is no such session, or its journal cannot be read.
    pub(crate) fn of(&self, host: &Host, folder: &SessionFolder) -> Result<SessionMoments, PageApiError> {
        let followed = self.followed(host, folder)?;
        let now = lock(&followed).now();
        now.map_err(|error| {
            // The next one begins anew.
            lock(&self.0).retain(|(known, _)| known != folder.path());
            PageApiError::failed("read the session", &error)
        })
    }

    fn followed(&self, host: &Host, folder: &SessionFolder) -> Result<Followed, HostError> {
        let mut kept = lock(&self.0);
        let known = kept.iter().position(|(known, _)| known == folder.path()).and_then(|at| kept.remove(at));
        let (path, followed) = match known {
            Some(known) => known,
            None => {
                let moments = host.session_moments(&folder.name())?;
                (folder.path().to_owned(), Arc::new(Mutex::new(moments)))
            }
        };
        while kept.len() >= KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back((path, Arc::clone(&followed)));
        Ok(followed)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
