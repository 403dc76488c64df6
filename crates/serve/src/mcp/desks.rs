//! The desktops of a client.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::desk::Desk;

/// How long all desktops of a client that has gone may take to end.
const END_BOUND: Duration = Duration::from_secs(60);

/// The desktops of a client, by name: `d1`, `d2`, ….
#[derive(Default)]
pub(super) struct Desks {
    all: Mutex<Numbered>,
    /// The sessions of this client, those that have ended too.
    sessions: Mutex<Vec<String>>,
}

#[derive(Default)]
struct Numbered {
    last: u32,
    desks: BTreeMap<String, Arc<Mutex<Desk>>>,
}

impl Desks {
    /// The sessions of this client, those that have ended too, in the order of their begin.
    pub(super) async fn sessions(&self) -> Vec<String> {
        self.sessions.lock().await.clone()
    }

    /// Notes a session of this client.
    pub(super) async fn add_session(&self, session: String) {
        self.sessions.lock().await.push(session);
    }

    /// Adds a desktop and returns its name.
    pub(super) async fn add(&self, desk: Desk) -> String {
        if let Some(session) = desk.session() {
            self.add_session(session).await;
        }
        let mut all = self.all.lock().await;
        all.last = all.last.saturating_add(1);
        let name = format!("d{}", all.last);
        all.desks.insert(name.clone(), Arc::new(Mutex::new(desk)));
        name
    }

    /// The desktop of this name, or without one the only one, held as soon as nobody else works on it; and its name.
    ///
    /// # Errors
    /// What to do instead.
    pub(super) async fn hold(&self, name: Option<&str>) -> Result<(String, OwnedMutexGuard<Desk>), String> {
        let (name, desk) = self.find(name).await?;
        Ok((name, desk.lock_owned().await))
    }

    async fn find(&self, name: Option<&str>) -> Result<(String, Arc<Mutex<Desk>>), String> {
        let all = self.all.lock().await;
        let names = || all.desks.keys().cloned().collect::<Vec<_>>().join(", ");
        match (name, all.desks.len()) {
            (_, 0) => Err("no desktop is open; `start_desktop` starts one".to_owned()),
            (None, 1) => Ok(all.desks.iter().map(|(name, desk)| (name.clone(), Arc::clone(desk))).next())
                .and_then(|one| one.ok_or_else(String::new)),
            (None, _) => Err(format!("say which `desktop` is meant: {}", names())),
            (Some(name), _) => all
                .desks
                .get(name)
                .map(|desk| (name.to_owned(), Arc::clone(desk)))
                .ok_or_else(|| format!("there is no desktop `{name}`; there are {}", names())),
        }
    }

    /// The desktops with their names.
    pub(super) async fn list(&self) -> Vec<(String, Arc<Mutex<Desk>>)> {
        let all = self.all.lock().await;
        all.desks.iter().map(|(name, desk)| (name.clone(), Arc::clone(desk))).collect()
    }

    /// Forgets a desktop.
    pub(super) async fn remove(&self, name: &str) {
        self.all.lock().await.desks.remove(name);
    }

    /// Ends all desktops.
    pub(super) async fn end_all(&self) {
        let ends = async {
            for (name, desk) in self.list().await {
                self.remove(&name).await;
                if let Err(error) = desk.lock().await.end("the client has gone").await {
                    tracing::warn!(%error, name, "ending the desktop of a client");
                }
            }
        };
        if tokio::time::timeout(END_BOUND, ends).await.is_err() {
            tracing::warn!("the desktops of a client did not end in time");
        }
    }
}
