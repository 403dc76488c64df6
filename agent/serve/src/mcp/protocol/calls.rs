//! The calls of all clients: those that run, and the answers of those that may come again.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::{
    ErrorData,
    model::{InputResponses, RequestId},
};
use sha2::{Digest as _, Sha256};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::timeout,
};

use super::{
    call::{ClientInfo, McpCall},
    catalog::Catalog,
    connection::ClientId,
    requests::{CatalogReply, CatalogRequest},
};

/// The most calls that run at once.
pub(super) const RUNNING_MAX: usize = 32;
/// Maximum time for a call to wait for a free place.
const ROOM_BOUND: Duration = Duration::from_secs(1);
/// The most answers that are kept, and their most bytes together.
const KEPT_MAX: usize = 256;
const KEPT_BYTES_MAX: usize = 32 << 20;

/// By what a repeated request is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum McpCallKey {
    /// A text of the client's own.
    Given(String),
    /// The id of the request, on a connection.
    Request(ClientId, RequestId),
}

/// The calls of all clients.
#[derive(Debug)]
pub(in crate::mcp) struct Calls {
    known: Mutex<VecDeque<McpCallEntry>>,
    running: Mutex<JoinSet<()>>,
    places: Arc<Semaphore>,
}

#[derive(Debug, Clone)]
struct McpCallEntry {
    keys: Vec<McpCallKey>,
    call: Arc<McpCall>,
    /// The size of its answer, once it is done.
    bytes: usize,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            known: Mutex::default(),
            running: Mutex::default(),
            places: Arc::new(Semaphore::new(RUNNING_MAX)),
        }
    }
}

impl Calls {
    /// The hash of what is asked for.
    pub(super) fn digest(wanted: &CatalogRequest) -> [u8; 32] {
        let text = match wanted {
            CatalogRequest::Tool { name, arguments } => serde_json::json!(["tool", name, arguments]),
            CatalogRequest::Prompt { name, arguments } => serde_json::json!(["prompt", name, arguments]),
            CatalogRequest::Resource { uri } => serde_json::json!(["resource", uri]),
        };
        Sha256::digest(text.to_string()).into()
    }

    /// The call that gave out this state.
    pub(super) fn with_state(&self, state: &str) -> Option<Arc<McpCall>> {
        self.known().iter().find(|known| known.call.gave(state)).map(|known| Arc::clone(&known.call))
    }

    /// The call of this key.
    pub(super) fn with_key(&self, key: &McpCallKey) -> Option<Arc<McpCall>> {
        self.known().iter().rev().find(|known| known.keys.contains(key)).map(|known| Arc::clone(&known.call))
    }

    /// A place for another call; `None` if too many run. Calls whose questions nobody waits for any more make room.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Some(place);
        }
        self.known().iter().for_each(|known| known.call.withdraw_question());
        let place = timeout(ROOM_BOUND, Arc::clone(&self.places).acquire_owned()).await;
        place.ok()?.ok()
    }

    /// Begins a call; `None` if too many run.
    pub(super) async fn begin<C: Catalog>(
        self: &Arc<Self>,
        catalog: Arc<C>,
        wanted: CatalogRequest,
        (client, given): (ClientInfo, InputResponses),
        keys: Vec<McpCallKey>,
    ) -> Option<Arc<McpCall>> {
        let place = self.place().await?;
        let call = Arc::new(McpCall::new(client, Self::digest(&wanted), given));
        self.known().push_back(McpCallEntry { keys, call: Arc::clone(&call), bytes: 0 });
        let ending = McpCallEndGuard { calls: Arc::clone(self), call: Arc::clone(&call), _place: place };
        let serving = catalog.serve(wanted, Arc::clone(&call));
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        while running.try_join_next().is_some() {}
        running.spawn(async move {
            let served = serving.await;
            ending.end(served);
        });
        Some(call)
    }

    /// Cancels the calls of a client.
    pub(in crate::mcp) fn cancel_of(&self, client: ClientId) {
        let known = self.known();
        known
            .iter()
            .filter(|known| known.call.client.id == Some(client))
            .for_each(|known| known.call.cancel());
    }

    /// Cancels all calls.
    pub(in crate::mcp) fn cancel_all(&self) {
        self.known().iter().for_each(|known| known.call.cancel());
    }

    fn known(&self) -> MutexGuard<'_, VecDeque<McpCallEntry>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what may be asked for again, as far as there is room.
    fn keep(&self, call: &Arc<McpCall>, bytes: usize) {
        let mut known = self.known();
        if let Some(one) = known.iter_mut().find(|one| Arc::ptr_eq(&one.call, call)) {
            one.bytes = bytes;
        }
        known.retain(|one| !one.call.is_done() || !one.keys.is_empty() || one.call.has_states());
        let is_done = |one: &McpCallEntry| one.call.is_done();
        let mut done = known.iter().filter(|one| is_done(one)).count();
        let mut size: usize = known.iter().map(|one| one.bytes).sum();
        while done > KEPT_MAX || size > KEPT_BYTES_MAX {
            let Some(oldest) = known.iter().position(is_done) else { break };
            size = size.saturating_sub(known.remove(oldest).map_or(0, |one| one.bytes));
            done = done.saturating_sub(1);
        }
    }
}

/// Ends a call also if what answers it panics.
struct McpCallEndGuard {
    calls: Arc<Calls>,
    call: Arc<McpCall>,
    _place: OwnedSemaphorePermit,
}

impl McpCallEndGuard {
    fn end(self, served: Result<CatalogReply, ErrorData>) {
        let bytes = match &served {
            Ok(CatalogReply::Tool(result)) => serde_json::to_vec(result),
            Ok(CatalogReply::Prompt(result)) => serde_json::to_vec(result),
            Ok(CatalogReply::Resource(result)) => serde_json::to_vec(result),
            Err(error) => serde_json::to_vec(error),
        };
        self.call.finish(served);
        self.calls.keep(&self.call, bytes.map_or(0, |bytes| bytes.len()));
    }
}

impl Drop for McpCallEndGuard {
    fn drop(&mut self) {
        if !self.call.is_done() {
            self.call.finish(Err(ErrorData::internal_error("the call broke off", None)));
            self.calls.keep(&self.call, 0);
        }
    }
}
