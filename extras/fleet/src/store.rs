//! Store of the fleet on its server: a work queue, journals, and records that can be changed only with their
//! last revision.
//!
//! The words are those of NATS JetStream: a *release* is a message in a stream with work queue retention, a
//! *journal* the messages of one subject, a *record* a key of a bucket. Each call either reports its result
//! or fails with [`StoreError::Unknown`]: then it may have happened or not, and its caller finds out by
//! reading.

use std::{future::Future, time::Duration};

use serde::de::DeserializeOwned;

use crate::{
    journal::TaskJournalEntry,
    task::{MachineCapabilities, TaskId, TaskRequirements},
};

/// The place of an entry in its journal: that of the entry before it is needed to append one. 0 is before the first.
pub type Place = u64;

/// The revision of a record. 0 is that of none.
pub type Revision = u64;

/// Why a call did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The journal or record is not as the caller knows it. Nothing happened.
    #[error("it was changed by somebody else")]
    Changed,
    /// No answer came. It may have happened or not.
    #[error("the server does not answer: {0}")]
    Unknown(String),
}

/// A task that was given to a worker. It is given to another one unless the worker says in time that it keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDelivery {
    /// The task.
    pub task: TaskId,
    /// Identifier of the delivery on the server.
    pub id: u64,
}

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetRecord {
    /// Its key.
    pub key: String,
    /// Its revision.
    pub revision: Revision,
    /// The content.
    pub value: Vec<u8>,
}

impl FleetRecord {
    /// Parses the content; `None` if it cannot be read.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.value).ok()
    }
}

/// The server of a fleet.
pub trait FleetStore: Clone + Send + Sync + 'static {
    /// Puts a task into the queue. The same `message` is queued once, as long as the server remembers it.
    fn release(
        &self,
        task: &TaskId,
        needs: &TaskRequirements,
        priority: u8,
        message: &str,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Waits for a task that a machine with this offer can do.
    fn pull(
        &self,
        offer: &MachineCapabilities,
    ) -> impl Future<Output = Result<TaskDelivery, StoreError>> + Send;

    /// Says that the worker is still at it.
    fn keep(&self, delivery: &TaskDelivery) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Takes a task out of the queue for good.
    fn finish(&self, delivery: &TaskDelivery) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Gives a task back: another worker gets it after this time.
    fn give_back(
        &self,
        delivery: &TaskDelivery,
        after: Duration,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Returns the number of tasks of the queue that workers hold.
    fn held(&self) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Appends to a journal whose last entry is at `after`; returns the place of the new one.
    fn append(
        &self,
        task: &TaskId,
        after: Place,
        entry: &TaskJournalEntry,
    ) -> impl Future<Output = Result<Place, StoreError>> + Send;

    /// The entries of a journal, each with its place.
    fn journal(
        &self,
        task: &TaskId,
    ) -> impl Future<Output = Result<Vec<(Place, TaskJournalEntry)>, StoreError>> + Send;

    /// A file by its hash.
    fn file(&self, hash: &str) -> impl Future<Output = Result<Vec<u8>, StoreError>> + Send;

    /// A record; `None` if there is none.
    fn get(&self, key: &str) -> impl Future<Output = Result<Option<FleetRecord>, StoreError>> + Send;

    /// Records whose keys begin with `prefix` that were written after a revision, in the order of their revisions: some of them, at least
    /// one, which is waited for. Of a record that was written several times, the last writing counts.
    fn changes(
        &self,
        prefix: &str,
        after: Revision,
    ) -> impl Future<Output = Result<Vec<FleetRecord>, StoreError>> + Send;

    /// Writes a record that has this revision.
    fn put(
        &self,
        key: &str,
        revision: Revision,
        value: &[u8],
    ) -> impl Future<Output = Result<Revision, StoreError>> + Send;
}
