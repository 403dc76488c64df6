//! Link between a client and the servers of a simulated fleet.

use std::{
    future::pending,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, timeout};

use super::{
    Chance,
    cluster::Cluster,
    faults::Network,
    server::{SimServer, SimServerState},
};
use crate::{
    journal::TaskJournalEntry,
    pace::pause,
    store::{FleetRecord, FleetStore, Place, Revision, StoreError, TaskDelivery},
    task::{MachineCapabilities, TaskId, TaskRequirements},
};

/// Time for which a request for a task waits in the server.
const PULL: Duration = Duration::from_secs(30);
/// Time to connect to another server.
const CONNECT: Duration = Duration::from_millis(200);
/// A request that arrives again does so within this time.
const ECHO_MAX: Duration = Duration::from_secs(60);

/// A direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkDirection {
    There,
    Back,
}

/// Until when nothing gets through.
#[derive(Debug, Default)]
struct LinkOutage {
    there: Option<Instant>,
    back: Option<Instant>,
}

/// The link between one client and the servers.
#[derive(Debug)]
pub struct SimLink {
    network: Network,
    /// Rate of the clock of the client.
    rate: f64,
    closed: Mutex<LinkOutage>,
    /// The server that it is connected to.
    node: AtomicUsize,
    chance: Chance,
}

impl SimLink {
    /// A link of a client whose clock has this rate.
    pub fn new(network: Network, rate: f64, seed: u64) -> Arc<Self> {
        let chance = Chance::new(seed);
        let node = usize::try_from(chance.below(Cluster::NODES as u64)).unwrap_or_default();
        Arc::new(Self { network, rate, closed: Mutex::default(), node: node.into(), chance })
    }

    /// Closes it in some directions.
    pub(super) fn close(&self, ways: &[LinkDirection], until: Instant) {
        let mut closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        for way in ways {
            match way {
                LinkDirection::There => closed.there = Some(until),
                LinkDirection::Back => closed.back = Some(until),
            }
        }
    }

    /// Returns `true` if a message gets through.
    fn passes(&self, way: LinkDirection) -> bool {
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        let until = match way {
            LinkDirection::There => closed.there,
            LinkDirection::Back => closed.back,
        };
        until.is_none_or(|until| until <= Instant::now()) && !self.chance.happens(self.network.lost)
    }

    /// A message on its way; never returns if it is lost.
    async fn pass(&self, way: LinkDirection) {
        pause(self.chance.tail(self.network.delay)).await;
        if !self.passes(way) {
            pending::<()>().await;
        }
    }

    /// The server that the client asks.
    async fn connected(&self, cluster: &Cluster) -> usize {
        let mut node = self.node.load(Ordering::Relaxed);
        while !cluster.is_up(node) {
            node = (node + 1) % Cluster::NODES;
            pause(CONNECT).await;
            self.node.store(node, Ordering::Relaxed);
        }
        node
    }
}

/// The servers as one client sees them.
#[derive(Clone)]
pub struct SimStore {
    server: Arc<SimServer>,
    link: Arc<SimLink>,
}

impl SimStore {
    /// A client.
    pub const fn new(server: Arc<SimServer>, link: Arc<SimLink>) -> Self {
        Self { server, link }
    }

    fn count(&self, request: &'static str) {
        *self.server.state().requests.entry(request).or_default() += 1;
    }

    /// A request on its way. Never returns if it is lost; else, which server has it.
    async fn ask(&self, request: &'static str) -> usize {
        let node = self.link.connected(&self.server.cluster).await;
        self.count(request);
        self.link.pass(LinkDirection::There).await;
        if !self.server.cluster.is_up(node) {
            pending::<()>().await;
        }
        node
    }

    /// A request whose answer the leader of the servers knows.
    async fn read<T: Send>(
        &self,
        request: &'static str,
        does: impl FnOnce(&mut SimServerState) -> T + Send,
    ) -> T {
        self.ask(request).await;
        if !self.server.cluster.leads() {
            pending::<()>().await;
        }
        let answer = does(&mut self.server.state());
        self.link.pass(LinkDirection::Back).await;
        answer
    }

    /// A request that changes something.
    async fn write<T, D>(&self, request: &'static str, does: D) -> Result<T, StoreError>
    where
        T: Send,
        D: Fn(&mut SimServerState) -> Result<T, StoreError> + Clone + Send + 'static,
    {
        self.ask(request).await;
        // Without a leader, nobody answers.
        let Some(write) = self.server.cluster.write() else { return pending().await };
        pause(write.takes).await;
        let (is_stored, is_answered) = self.server.cluster.is_stored(write);
        if !is_stored {
            pending::<()>().await;
        }
        let answer = {
            let mut state = self.server.state();
            let answer = does(&mut state);
            if self.link.chance.happens(self.link.network.repeated) {
                let after = self.link.chance.between(Duration::ZERO, ECHO_MAX);
                state.echo(after, move |state| {
                    // Nobody waits for this answer.
                    let _ = does(state);
                });
            }
            answer
        };
        if !is_answered {
            pending::<()>().await;
        }
        self.link.pass(LinkDirection::Back).await;
        answer
    }

    /// A message that nobody answers.
    async fn tell(&self, request: &'static str, does: impl FnOnce(&mut SimServerState) + Send) {
        let node = self.link.connected(&self.server.cluster).await;
        self.count(request);
        pause(self.link.chance.tail(self.link.network.delay)).await;
        if self.link.passes(LinkDirection::There)
            && self.server.cluster.is_up(node)
            && self.server.cluster.leads()
        {
            does(&mut self.server.state());
        }
    }

    async fn try_pull(&self, offer: &MachineCapabilities) -> TaskDelivery {
        self.ask("pull").await;
        if !self.server.cluster.leads() {
            pending::<()>().await;
        }
        let found = self.server.state().queue.pull(offer);
        let delivery = match found {
            Ok(delivery) => delivery,
            Err(waiting) => waiting.delivery().await,
        };
        self.link.pass(LinkDirection::Back).await;
        delivery
    }
}

impl FleetStore for SimStore {
    async fn release(
        &self,
        task: &TaskId,
        needs: &TaskRequirements,
        priority: u8,
        message: &str,
    ) -> Result<(), StoreError> {
        let (task, needs, message) = (task.clone(), needs.clone(), message.to_owned());
        self.write("release", move |state| {
            state.queue.release(&task, &needs, priority, &message);
            Ok(())
        })
        .await
    }

    async fn pull(&self, offer: &MachineCapabilities) -> Result<TaskDelivery, StoreError> {
        timeout(PULL, self.try_pull(offer)).await.map_err(|_| StoreError::Unknown("no task".to_owned()))
    }

    async fn keep(&self, delivery: &TaskDelivery) -> Result<(), StoreError> {
        self.tell("keep", |state| state.queue.keep(delivery.id)).await;
        Ok(())
    }

    async fn finish(&self, delivery: &TaskDelivery) -> Result<(), StoreError> {
        let id = delivery.id;
        self.write("finish", move |state| {
            state.queue.finish(id);
            Ok(())
        })
        .await
    }

    async fn give_back(&self, delivery: &TaskDelivery, after: Duration) -> Result<(), StoreError> {
        // It is the server's clock that counts.
        let after = after.mul_f64(self.link.rate);
        self.tell("give_back", |state| state.queue.give_back(delivery.id, after)).await;
        Ok(())
    }

    async fn held(&self) -> Result<u64, StoreError> {
        Ok(self.read("held", |state| state.queue.held()).await)
    }

    async fn append(
        &self,
        task: &TaskId,
        after: Place,
        entry: &TaskJournalEntry,
    ) -> Result<Place, StoreError> {
        let (task, entry) = (task.clone(), entry.clone());
        self.write("append", move |state| state.append(&task, after, &entry)).await
    }

    async fn journal(&self, task: &TaskId) -> Result<Vec<(Place, TaskJournalEntry)>, StoreError> {
        self.read("journal", |state| state.journal(task)).await
    }

    async fn file(&self, hash: &str) -> Result<Vec<u8>, StoreError> {
        let found = self.read("file", |state| state.files.get(hash).cloned()).await;
        found.ok_or_else(|| StoreError::Unknown(format!("there is no file {hash}")))
    }

    async fn get(&self, key: &str) -> Result<Option<FleetRecord>, StoreError> {
        // Any server answers that: it may not know yet what most of them know.
        let node = self.ask("get").await;
        let behind = self.server.cluster.behind(node);
        let found = self.server.state().get(key, behind);
        self.link.pass(LinkDirection::Back).await;
        Ok(found)
    }

    async fn changes(&self, prefix: &str, after: Revision) -> Result<Vec<FleetRecord>, StoreError> {
        self.ask("changes").await;
        loop {
            let found = self.server.state().changes(prefix, after);
            match found {
                Ok(found) => {
                    self.link.pass(LinkDirection::Back).await;
                    return Ok(found);
                }
                Err(written) => written.notified().await,
            }
        }
    }

    async fn put(&self, key: &str, revision: Revision, value: &[u8]) -> Result<Revision, StoreError> {
        let (key, value): (Box<str>, Box<[u8]>) = (key.into(), value.into());
        self.write("put", move |state| state.put(&key, revision, &value)).await
    }
}
