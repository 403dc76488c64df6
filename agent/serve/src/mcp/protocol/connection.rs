//! The connections of clients, and the notice that one has gone.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use tokio::{sync::mpsc, task::JoinSet};

use super::logs::Least;

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
    gone: mpsc::UnboundedSender<ClientId>,
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
        self.gone.send(self.id).ok();
    }
}

/// Numbers connections, and says which have gone.
#[derive(Debug)]
pub(in crate::mcp) struct Departures {
    last: AtomicU64,
    gone: mpsc::UnboundedSender<ClientId>,
}

impl Departures {
    pub(in crate::mcp) fn new() -> (Self, mpsc::UnboundedReceiver<ClientId>) {
        let (gone, heard) = mpsc::unbounded_channel();
        (Self { last: AtomicU64::new(0), gone }, heard)
    }

    pub(super) fn connect(&self) -> Arc<McpConnection> {
        let id = ClientId(self.last.fetch_add(1, Ordering::Relaxed).saturating_add(1));
        Arc::new(McpConnection {
            id,
            level: Mutex::new(None),
            watched: Mutex::default(),
            gone: self.gone.clone(),
            running: Mutex::default(),
        })
    }
}
