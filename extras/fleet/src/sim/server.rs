//! Storage of the servers of a simulated fleet: journals, records and the queue.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use super::{cluster::Cluster, faults::Tail, queue::Queue};
use crate::{
    holder::{LEASES, OUTCOMES, TASKS},
    journal::TaskJournalEntry,
    pace::pause,
    store::{FleetRecord, Place, Revision, StoreError},
    task::TaskId,
};

/// The most records of one answer.
const CHANGES_MAX: usize = 1_000;
/// Interval at which the server looks for messages that have come back.
const TICK: Duration = Duration::from_millis(200);
/// A server that is further behind the others answers nobody.
const BEHIND_MAX: Duration = Duration::from_secs(60);

/// The treatment of writes by clients without the last entry of a journal, or the revision of a lease:
/// refused or accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fences {
    /// As it must be.
    #[default]
    Kept,
    /// A bug that is planted, for the simulator to find: journals and leases are written by whoever comes.
    Ignored,
}

/// The servers of a fleet.
pub struct SimServer {
    state: Mutex<SimServerState>,
    pub(super) cluster: Cluster,
}

/// When a task came, was first taken, and had its outcome, in milliseconds from the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SimTaskTimes {
    pub(super) came: Option<u32>,
    pub(super) taken: Option<u32>,
    pub(super) ended: Option<u32>,
}

#[derive(Debug, Default)]
pub(super) struct SimTaskState {
    /// The place of the last entry.
    last: Place,
    /// Entries as they are sent, each with its place before it, in lines.
    entries: Vec<u8>,
    pub(super) times: SimTaskTimes,
}

impl SimTaskState {
    fn push(&mut self, place: Place, entry: &TaskJournalEntry) -> serde_json::Result<()> {
        serde_json::to_writer(&mut self.entries, &(place, entry))?;
        self.entries.push(b'\n');
        self.last = place;
        if matches!(entry, TaskJournalEntry::Ended { .. }) {
            self.entries.shrink_to_fit();
        }
        Ok(())
    }

    fn entries(&self) -> serde_json::Result<Vec<(Place, TaskJournalEntry)>> {
        let lines = self.entries.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(serde_json::from_slice).collect()
    }
}

#[derive(Debug)]
struct SimRecord {
    revision: Revision,
    value: Box<[u8]>,
    since: Instant,
    /// The previous content, while a server may not have received the change yet.
    before: Option<Box<(Revision, Box<[u8]>)>>,
}

/// The records of one kind.
#[derive(Debug, Default)]
struct Bucket {
    /// Their keys by their last revision.
    keys: BTreeMap<Revision, Arc<str>>,
    written: Arc<Notify>,
}

/// The effect of a request that arrives again.
type Echo = Box<dyn FnOnce(&mut SimServerState) + Send>;

pub(super) struct SimServerState {
    began: Instant,
    fences: Fences,
    pub(super) queue: Queue,
    pub(super) tasks: HashMap<TaskId, SimTaskState>,
    records: HashMap<Arc<str>, SimRecord>,
    buckets: HashMap<String, Bucket>,
    changed: VecDeque<(Instant, Arc<str>)>,
    revision: Revision,
    place: Place,
    pub(super) files: HashMap<String, Vec<u8>>,
    echoes: BTreeMap<(Instant, u64), Echo>,
    echoed: u64,
    /// Number of tasks with an outcome.
    pub(super) ended: u64,
    /// Number of requests of each kind.
    pub(super) requests: BTreeMap<&'static str, u64>,
}

/// Returns the part of a key before the first full stop.
fn bucket_of(key: &str) -> &str {
    key.split_once('.').map_or(key, |(bucket, _)| bucket)
}

fn unknown(error: &impl ToString) -> StoreError {
    StoreError::Unknown(error.to_string())
}

impl SimServerState {
    fn now(&self) -> Option<u32> {
        u32::try_from(self.began.elapsed().as_millis()).ok()
    }

    fn tick(&mut self) {
        self.queue.tick();
        let now = Instant::now();
        while let Some(echo) = self.echoes.first_entry().filter(|echo| echo.key().0 <= now) {
            let echo = echo.remove();
            echo(self);
        }
        while self.changed.front().is_some_and(|(since, _)| now.duration_since(*since) > BEHIND_MAX) {
            let Some((since, key)) = self.changed.pop_front() else { return };
            if let Some(stored) = self.records.get_mut(&key).filter(|stored| stored.since == since) {
                stored.before = None;
            }
        }
    }

    /// Has a request arrive again later.
    pub(super) fn echo(&mut self, after: Duration, does: impl FnOnce(&mut Self) + Send + 'static) {
        self.echoed += 1;
        self.echoes.insert((Instant::now() + after, self.echoed), Box::new(does));
    }

    pub(super) fn append(
        &mut self,
        task: &TaskId,
        after: Place,
        entry: &TaskJournalEntry,
    ) -> Result<Place, StoreError> {
        let now = self.now();
        let kept = self.tasks.entry(task.clone()).or_default();
        if kept.last != after && self.fences == Fences::Kept {
            return Err(StoreError::Changed);
        }
        self.place += 1;
        kept.push(self.place, entry).map_err(|error| unknown(&error))?;
        if matches!(entry, TaskJournalEntry::Taken { .. }) {
            kept.times.taken = kept.times.taken.or(now);
        }
        Ok(self.place)
    }

    pub(super) fn journal(&self, task: &TaskId) -> Result<Vec<(Place, TaskJournalEntry)>, StoreError> {
        let entries = self.tasks.get(task).map(SimTaskState::entries).transpose();
        entries.map(Option::unwrap_or_default).map_err(|error| unknown(&error))
    }

    /// A record, as a server knows it that is so far behind.
    pub(super) fn get(&self, key: &str, behind: Duration) -> Option<FleetRecord> {
        let stored = self.records.get(key)?;
        let (revision, value) = if stored.since.elapsed() < behind {
            stored.before.as_ref().map(|before| (before.0, &before.1))?
        } else {
            (stored.revision, &stored.value)
        };
        Some(FleetRecord { key: key.to_owned(), revision, value: value.to_vec() })
    }

    pub(super) fn put(&mut self, key: &str, known: Revision, value: &[u8]) -> Result<Revision, StoreError> {
        let now = self.now();
        let before = self.records.get_key_value(key).map(|(key, stored)| (Arc::clone(key), stored.revision));
        let revision = before.as_ref().map_or(0, |(_, revision)| *revision);
        let is_unfenced = self.fences == Fences::Ignored && key.starts_with(LEASES);
        if revision != known && !is_unfenced {
            return Err(StoreError::Changed);
        }
        if revision == 0 {
            self.count_times(key, now);
        }
        self.revision += 1;
        let (key, since) = (before.map_or_else(|| Arc::from(key), |(key, _)| key), Instant::now());
        let mut stored = SimRecord { revision: self.revision, value: value.into(), since, before: None };
        let bucket = self.buckets.entry(bucket_of(&key).to_owned()).or_default();
        bucket.keys.remove(&revision);
        bucket.keys.insert(self.revision, Arc::clone(&key));
        bucket.written.notify_waiters();
        self.changed.push_back((since, Arc::clone(&key)));
        if let Some(old) = self.records.remove(&key) {
            stored.before = Some(Box::new((old.revision, old.value)));
        }
        self.records.insert(key, stored);
        Ok(self.revision)
    }

    fn count_times(&mut self, key: &str, now: Option<u32>) {
        if let Some(Ok(task)) = key.strip_prefix(TASKS).map(TaskId::new) {
            self.tasks.entry(task).or_default().times.came = now;
        } else if let Some(Ok(task)) = key.strip_prefix(OUTCOMES).map(TaskId::new) {
            self.tasks.entry(task).or_default().times.ended = now;
            self.ended += 1;
        }
    }

    /// Records that were written after a revision, or what is to be waited for.
    pub(super) fn changes(&mut self, prefix: &str, after: Revision) -> Result<Vec<FleetRecord>, Arc<Notify>> {
        let bucket = self.buckets.entry(bucket_of(prefix).to_owned()).or_default();
        let newer = bucket.keys.range(after.saturating_add(1)..).filter(|(_, key)| key.starts_with(prefix));
        let record = |(revision, key): (&Revision, &Arc<str>)| {
            let value = self.records.get(key).map(|stored| stored.value.to_vec()).unwrap_or_default();
            FleetRecord { key: key.to_string(), revision: *revision, value }
        };
        let found: Vec<FleetRecord> = newer.take(CHANGES_MAX).map(record).collect();
        if found.is_empty() { Err(Arc::clone(&bucket.written)) } else { Ok(found) }
    }
}

impl SimServer {
    /// Servers that give a task to another worker after `ack_wait`.
    pub fn new(ack_wait: Duration, disk: Tail, fences: Fences, seed: u64) -> Arc<Self> {
        let state = SimServerState {
            began: Instant::now(),
            fences,
            queue: Queue::new(ack_wait),
            tasks: HashMap::new(),
            records: HashMap::new(),
            buckets: HashMap::new(),
            changed: VecDeque::new(),
            revision: 0,
            place: 0,
            files: HashMap::new(),
            echoes: BTreeMap::new(),
            echoed: 0,
            ended: 0,
            requests: BTreeMap::new(),
        };
        Arc::new(Self { state: Mutex::new(state), cluster: Cluster::new(disk, seed) })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, SimServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a file under a name that stands for its hash.
    pub fn put_file(&self, hash: &str, bytes: &[u8]) {
        self.state().files.insert(hash.to_owned(), bytes.to_vec());
    }

    /// Does what has to be done when its time has come. Without it, nothing is given back.
    pub async fn run(&self) {
        loop {
            pause(TICK).await;
            self.state().tick();
        }
    }
}
