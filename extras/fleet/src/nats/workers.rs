//! Which workers are there.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use async_nats::jetstream::{consumer::DeliverPolicy, kv::Operation};
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout};

use super::{NatsStore, records::OPERATION, unknown};
use crate::{
    journal::WorkerId,
    store::{FleetRecord, FleetStore as _, StoreError},
};

/// Key prefix of the records of workers.
const WORKERS: &str = "worker.";
/// A worker that was silent for so many leases is gone.
const GONE_LEASES: u32 = 2;
/// The record of one that was silent for so many leases is removed.
const FORGOTTEN_LEASES: u32 = 100;

/// Number of tasks in the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depth {
    /// Waiting for a worker.
    pub waiting: u64,
    /// With a worker.
    pub held: u64,
}

fn named(record: FleetRecord) -> (WorkerId, Vec<u8>) {
    let name = record.key.strip_prefix(WORKERS).unwrap_or_default().to_owned();
    (WorkerId(name), record.value)
}

fn key(worker: &WorkerId) -> String {
    format!("{WORKERS}{}", worker.0)
}

impl NatsStore {
    /// Returns the interval at which a worker has to announce itself.
    pub fn announcement(&self) -> Duration {
        self.0.lease / 2
    }

    /// Says that a worker is there, and what it is like.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if no answer comes.
    pub async fn announce(&self, worker: &WorkerId, value: Vec<u8>) -> Result<(), StoreError> {
        self.0.records.put(key(worker), value.into()).await.map(|_| ()).map_err(|error| self.unknown(error))
    }

    /// Says that a worker is there no more.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if no answer comes.
    pub async fn leave(&self, worker: &WorkerId) -> Result<(), StoreError> {
        self.0.records.purge(key(worker)).await.map_err(unknown)
    }

    /// Returns the announcements of the workers that are present. Times are those of the server, so `own` has to
    /// be among them.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if no answer comes, or `own` was not announced.
    pub async fn workers(&self, own: &WorkerId) -> Result<Vec<(WorkerId, Vec<u8>)>, StoreError> {
        let now = self.0.records.entry(key(own)).await.map_err(unknown)?;
        let now = now.ok_or_else(|| unknown(format!("the worker {} was not announced", own.0)))?.created;
        let mut all = self.0.records.watch_with_history(format!("{WORKERS}>")).await.map_err(unknown)?;
        let mut found = Vec::new();
        while let Some(entry) = all.next().await {
            let entry = entry.map_err(unknown)?;
            let is_last = entry.delta == 0;
            let silent = Duration::try_from(now - entry.created).unwrap_or_default();
            let name = entry.key.strip_prefix(WORKERS).unwrap_or_default();
            if entry.operation != Operation::Put || name.is_empty() {
                // It has left.
            } else if silent > self.0.lease * FORGOTTEN_LEASES {
                self.0.records.purge(&entry.key).await.map_err(unknown)?;
            } else if silent <= self.0.lease * GONE_LEASES {
                found.push((WorkerId(name.to_owned()), entry.value.to_vec()));
            }
            if is_last {
                break;
            }
        }
        Ok(found)
    }

    /// Returns the announcements of the workers that are present, for a caller that is not a worker. Times are
    /// those of the server, and by the clock of this machine they may be long ago: then this waits up to a lease
    /// until some arrive.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if no answer comes.
    pub async fn present(&self) -> Result<Vec<(WorkerId, Vec<u8>)>, StoreError> {
        let (gone, now) = (self.0.lease * GONE_LEASES, SystemTime::now());
        let announced = self.announced().await?;
        let Some(newest) = announced.iter().map(|(at, _)| *at).max() else { return Ok(Vec::new()) };
        let since = |at: SystemTime, until: SystemTime| until.duration_since(at).unwrap_or_default();
        if since(newest, now) <= gone {
            let there = announced.into_iter().filter(|(at, _)| since(*at, newest) <= gone);
            return Ok(there.map(|(_, record)| named(record)).collect());
        }
        let last = announced.iter().map(|(_, record)| record.revision).max().unwrap_or_default();
        let (mut heard, mut after) = (BTreeMap::new(), last);
        let begun = Instant::now();
        while let Some(left) = self.0.lease.checked_sub(begun.elapsed()) {
            // One that is heard is followed by the others within that time, but one is enough to know that the clock is wrong.
            let left = if heard.is_empty() { left } else { left.min(self.announcement()) };
            let Ok(records) = timeout(left, self.changes(WORKERS, after)).await else { break };
            for record in records? {
                after = after.max(record.revision);
                heard.insert(record.key.clone(), record);
            }
        }
        Ok(heard.into_values().map(named).collect())
    }

    /// The records of all workers that have not left, and when they were written.
    async fn announced(&self) -> Result<Vec<(SystemTime, FleetRecord)>, StoreError> {
        let before = format!("$KV.{}.", self.0.records.name);
        let (subjects, policy) = (format!("{before}{WORKERS}>"), DeliverPolicy::LastPerSubject);
        let mut found = Vec::new();
        for message in self.read(&self.0.records.stream, subjects, policy).await? {
            let info = message.info().map_err(unknown)?;
            let is_removed = message.headers.as_ref().is_some_and(|headers| headers.get(OPERATION).is_some());
            let Some(key) = message.subject.strip_prefix(&before).filter(|_| !is_removed) else { continue };
            let (key, value) = (key.to_owned(), message.payload.to_vec());
            found.push((info.published.into(), FleetRecord { key, revision: info.stream_sequence, value }));
        }
        Ok(found)
    }

    /// Returns the number of tasks in the queue.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if no answer comes.
    pub async fn depth(&self) -> Result<Depth, StoreError> {
        let mut consumers = self.0.queue.consumers();
        let mut depth = Depth::default();
        while let Some(info) = consumers.next().await {
            let held = info.map_err(unknown)?.num_ack_pending;
            depth.held = depth.held.saturating_add(u64::try_from(held).unwrap_or(u64::MAX));
        }
        let queue = self.0.queue.get_info().await.map_err(unknown)?;
        depth.waiting = queue.state.messages.saturating_sub(depth.held);
        Ok(depth)
    }
}
