//! The connections of clients, and the notice that one has gone.

use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::{sync::mpsc, task::JoinSet};

use super::logs::Least;

/// The most clients that are connected, or have gone and are still cleaned up after. A notice that somebody has gone must not be lost, and
/// cannot wait: each connection takes its place when it begins, and one that finds none is refused.
const CLIENTS_MAX: usize = 4_096;

/// A client: a pair of streams, or a session over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientId(u64);

/// A client's connection. When it is dropped, the client has gone.
#[derive(Debug)]
pub(super) struct McpConnection {
    pub(super) id: ClientId,
    /// The least level of the messages that the client wants, since it said so.
    level: Mutex<Option<Least>>,
    /// The resources whose changes it wants to know.
    pub(super) watched: Mutex<Vec<String>>,
    /// The place of the notice that it has gone, taken when it came.
    gone: Option<mpsc::OwnedPermit<ClientId>>,
    /// Background work that runs as long as the connection.
    running: Mutex<JoinSet<()>>,
}

impl McpConnection {
    pub(super) fn run(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // A client that says twice that it is ready is told once.
        running.abort_all();
        running.spawn(work);
    }

    pub(super) fn level(&self) -> Option<Least> {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_level(&self, level: Least) {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }
}

impl Drop for McpConnection {
    fn drop(&mut self) {
        // Without a receiver the server itself ends.
        if let Some(gone) = self.gone.take() {
            gone.send(self.id);
        }
    }
}

/// Numbers connections, and says which have gone.
#[derive(Debug)]
pub(in crate::mcp) struct Departures {
    last: AtomicU64,
    gone: mpsc::Sender<ClientId>,
}

impl Departures {
    pub(in crate::mcp) fn new() -> (Self, mpsc::Receiver<ClientId>) {
        let (gone, heard) = mpsc::channel(CLIENTS_MAX);
        (Self { last: AtomicU64::new(0), gone }, heard)
    }

    /// A new connection.
    ///
    /// # Errors
    /// Too many clients are connected, or the server ends.
    pub(super) fn connect(&self) -> io::Result<Arc<McpConnection>> {
        let gone = self.gone.clone().try_reserve_owned();
        let gone = gone.map_err(|_| io::Error::other("too many clients are connected"))?;
        let id = ClientId(self.last.fetch_add(1, Ordering::Relaxed).saturating_add(1));
        Ok(Arc::new(McpConnection {
            id,
            level: Mutex::new(None),
            watched: Mutex::default(),
            gone: Some(gone),
            running: Mutex::default(),
        }))
    }
}
