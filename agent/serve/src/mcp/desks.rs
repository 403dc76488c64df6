//! The desktops of all clients.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::{Deref, DerefMut},
    sync::{Arc, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Mutex, OwnedMutexGuard, broadcast},
    time::Instant,
};

use super::{
    addresses,
    ask::{ActiveCall, ActiveCallGuard},
    protocol::{CatalogChange, ClientId, McpCall},
    unread::UndeliveredReport,
};
use crate::desk::Desk;

/// Maximum time to end all desktops of a client that has gone.
const END_BOUND: Duration = Duration::from_secs(60);
/// The most desktops at once.
const DESKS_MAX: usize = 32;
/// The changes that a slow client may be behind; older ones are dropped.
const CHANGES_MAX: usize = 256;
/// The most sessions, and reports of cancelled calls, that are remembered.
const SESSIONS_MAX: usize = 1_000;
const UNREAD_MAX: usize = 100;

/// The desktops of the clients of a server, by name: `d1`, `d2`, ….
pub(super) struct Desks {
    all: Mutex<DeskRegistry>,
    /// The sessions of these clients, those that have ended too.
    sessions: Mutex<VecDeque<String>>,
    /// Reports of cancelled calls that belong to no desktop.
    unread: Mutex<VecDeque<UndeliveredReport>>,
    changes: broadcast::Sender<CatalogChange>,
}

#[derive(Default)]
struct DeskRegistry {
    last: u32,
    desks: BTreeMap<String, One>,
}

/// A desktop.
#[derive(Clone)]
struct One {
    /// The client that ends with it, unless it has no connection.
    owner: Option<ClientId>,
    /// The line to the client that works on it.
    line: ActiveCall,
    used: Arc<std::sync::Mutex<Instant>>,
    desk: Arc<Mutex<ClientDesk>>,
}

/// A desktop with what a cancelled call did on it.
pub(super) struct ClientDesk {
    desk: Desk,
    pub(super) unread: Option<UndeliveredReport>,
}

impl Deref for ClientDesk {
    type Target = Desk;

    fn deref(&self) -> &Desk {
        &self.desk
    }
}

impl DerefMut for ClientDesk {
    fn deref_mut(&mut self) -> &mut Desk {
        &mut self.desk
    }
}

/// A desktop that a call works on alone.
pub(super) struct DeskLease {
    pub(super) name: String,
    desk: OwnedMutexGuard<ClientDesk>,
    used: Arc<std::sync::Mutex<Instant>>,
    _line: ActiveCallGuard,
}

impl Drop for DeskLease {
    fn drop(&mut self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

impl Deref for DeskLease {
    type Target = ClientDesk;

    fn deref(&self) -> &ClientDesk {
        &self.desk
    }
}

impl DerefMut for DeskLease {
    fn deref_mut(&mut self) -> &mut ClientDesk {
        &mut self.desk
    }
}

/// A desktop in a list.
pub(super) struct DeskListEntry {
    pub(super) name: String,
    /// Its session; `None` while a call works on it.
    pub(super) session: Option<String>,
}

impl Default for Desks {
    fn default() -> Self {
        Self {
            all: Mutex::default(),
            sessions: Mutex::default(),
            unread: Mutex::default(),
            changes: broadcast::Sender::new(CHANGES_MAX),
        }
    }
}

impl Desks {
    /// The sessions of these clients, those that have ended too, in the order of their begin.
    pub(super) async fn sessions(&self) -> Vec<String> {
        self.sessions.lock().await.iter().cloned().collect()
    }

    /// Notes a session of a client.
    pub(super) async fn add_session(&self, session: String) {
        let mut sessions = self.sessions.lock().await;
        sessions.push_back(session);
        if sessions.len() > SESSIONS_MAX {
            sessions.pop_front();
        }
        drop(sessions);
        self.tell(CatalogChange::Resources);
    }

    /// Subscribes to changes from now on.
    pub(super) fn changes(&self) -> broadcast::Receiver<CatalogChange> {
        self.changes.subscribe()
    }

    fn tell(&self, change: CatalogChange) {
        // Nobody listens.
        self.changes.send(change).ok();
    }

    /// Tells that a desktop may show something else.
    pub(super) fn worked_on(&self, name: &str) {
        for uri in addresses::of_desktop(name) {
            self.tell(CatalogChange::Resource(uri));
        }
    }

    /// Checks that there is room for another desktop.
    ///
    /// # Errors
    /// There is none. The message says what to do instead.
    pub(super) async fn has_room(&self) -> Result<(), String> {
        if self.all.lock().await.desks.len() < DESKS_MAX {
            return Ok(());
        }
        Err(format!("{DESKS_MAX} desktops are open, the most at once; end one with `end_desktop` first"))
    }

    /// Adds a desktop and returns its name.
    pub(super) async fn add(&self, desk: Desk, owner: Option<ClientId>, line: ActiveCall) -> String {
        if let Some(session) = desk.session() {
            self.add_session(session).await;
        }
        let mut all = self.all.lock().await;
        all.last = all.last.saturating_add(1);
        let name = format!("d{}", all.last);
        let used = Arc::new(std::sync::Mutex::new(Instant::now()));
        let desk = Arc::new(Mutex::new(ClientDesk { desk, unread: None }));
        all.desks.insert(name.clone(), One { owner, line, used, desk });
        drop(all);
        self.tell(CatalogChange::Resources);
        name
    }

    /// The desktop of this name, or without one the only one, as soon as no other call works on it.
    ///
    /// # Errors
    /// What to do instead, or the call was cancelled.
    pub(super) async fn hold(&self, name: Option<&str>, call: &Arc<McpCall>) -> Result<DeskLease, String> {
        let (name, one) = self.find(name).await?;
        if let Some(other) = one.line.call() {
            // A question that nobody is asked any more must not hold the desktop.
            other.withdraw_question();
        }
        let desk = tokio::select! {
            desk = Arc::clone(&one.desk).lock_owned() => desk,
            () = call.cancelled() => return Err("the call was cancelled; nothing was done".to_owned()),
        };
        let _line = one.line.hold(call);
        Ok(DeskLease { name, desk, used: one.used, _line })
    }

    async fn find(&self, name: Option<&str>) -> Result<(String, One), String> {
        let all = self.all.lock().await;
        let names = || all.desks.keys().cloned().collect::<Vec<_>>().join(", ");
        match (name, all.desks.len()) {
            (_, 0) => Err("no desktop is open; `start_desktop` starts one".to_owned()),
            (None, 1) => Ok(all.desks.iter().map(|(name, one)| (name.clone(), one.clone())).next())
                .and_then(|one| one.ok_or_else(String::new)),
            (None, _) => Err(format!("say which `desktop` is meant: {}", names())),
            (Some(name), _) => all
                .desks
                .get(name)
                .map(|one| (name.to_owned(), one.clone()))
                .ok_or_else(|| format!("there is no desktop `{name}`; there are {}", names())),
        }
    }

    /// The names of the desktops.
    pub(super) async fn names(&self) -> Vec<String> {
        self.all.lock().await.desks.keys().cloned().collect()
    }

    /// The desktops.
    pub(super) async fn list(&self) -> Vec<DeskListEntry> {
        let all = self.all.lock().await;
        let session = |one: &One| one.desk.try_lock().ok().map(|desk| desk.session().unwrap_or_default());
        all.desks
            .iter()
            .map(|(name, one)| DeskListEntry { name: name.clone(), session: session(one) })
            .collect()
    }

    /// Forgets a desktop.
    pub(super) async fn remove(&self, name: &str) {
        self.all.lock().await.desks.remove(name);
        self.tell(CatalogChange::Resources);
    }

    /// Keeps what a call did that belongs to no desktop, for the case that its answer is not delivered.
    pub(super) async fn add_unread(&self, unread: UndeliveredReport) {
        let mut all = self.unread.lock().await;
        all.push_back(unread);
        if all.len() > UNREAD_MAX {
            all.pop_front();
        }
    }

    /// Such reports that reached nobody, once.
    pub(super) async fn take_unread(&self) -> Vec<UndeliveredReport> {
        let mut unread = self.unread.lock().await;
        let (lost, others) = unread.drain(..).partition(UndeliveredReport::is_lost);
        *unread = others;
        unread.retain(|one| !one.is_read());
        let lost: VecDeque<UndeliveredReport> = lost;
        lost.into()
    }

    /// Ends all desktops.
    pub(super) async fn end_all(&self) {
        self.end(|_| true, "the client has gone").await;
    }

    /// Ends the desktops of a client that has gone.
    pub(super) async fn end_of(&self, client: ClientId) {
        self.end(|one| one.owner == Some(client), "the client has gone").await;
    }

    /// Ends the desktops that nobody used for this long and nobody works on.
    pub(super) async fn end_idle(&self, idle: Duration) {
        let is_idle = |one: &One| {
            let used = *one.used.lock().unwrap_or_else(PoisonError::into_inner);
            used.elapsed() >= idle && one.desk.try_lock().is_ok()
        };
        self.end(|one| one.owner.is_none() && is_idle(one), "no client has used the desktop any more").await;
    }

    async fn end(&self, which: impl Fn(&One) -> bool, why: &str) {
        let mut ending = Vec::new();
        {
            let mut all = self.all.lock().await;
            let names: Vec<String> =
                all.desks.iter().filter(|(_, one)| which(one)).map(|(name, _)| name.clone()).collect();
            for name in names {
                ending.extend(all.desks.remove(&name).map(|one| (name, one)));
            }
        }
        if ending.is_empty() {
            return;
        }
        self.tell(CatalogChange::Resources);
        let ends = async {
            for (name, one) in ending {
                if let Err(error) = one.desk.lock().await.end(why).await {
                    tracing::debug!(%error, name, "ending the desktop of a client");
                }
            }
        };
        if tokio::time::timeout(END_BOUND, ends).await.is_err() {
            tracing::warn!("the desktops of a client did not end in time");
        }
    }
}
