//! The server of a fleet: NATS with JetStream.
//!
//! | what | where |
//! | --- | --- |
//! | queue | the stream `PREFIX-queue` with work queue retention; subjects `PREFIX.queue.CLASS`. A class stands for equal needs and priority |
//! | journals | the stream `PREFIX-journal`; one subject a task; each entry names the one before it (`Nats-Expected-Last-Subject-Sequence`) |
//! | files | the object store `PREFIX-files`, by their SHA-256 hashes |
//! | records | the bucket `PREFIX-records`, whose revisions are those of the records |
//! | frames | the subjects `PREFIX.watch.TASK`, `PREFIX.attend.TASK` and `PREFIX.screen.TASK.WORKER`, which nothing stores |

mod connect;
mod files;
mod follow;
mod frames;
mod records;
mod summary;
mod workers;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
    fmt::Display,
    future::pending,
    pin::pin,
    sync::Arc,
    time::Duration,
};

use async_nats::{
    Client, HeaderMap,
    jetstream::{
        AckKind, Context,
        consumer::{AckPolicy, PullConsumer, pull},
        context::PublishErrorKind,
        kv::{self, CreateErrorKind, Operation, UpdateErrorKind},
        message::Message,
        object_store::ObjectStore,
        stream::Stream,
    },
};
use bytes::Bytes;
pub use connect::{NatsError, NatsOptions};
pub use files::FILE_BYTES_MAX;
pub use follow::{FollowedJournal, RecordChange};
pub use frames::{
    Attention, FRAME_BYTES_MAX, FleetFrame, FleetFrameStream, Regard, WATCH_EVERY, WATCH_HOLDS, Watchers,
};
use futures_util::{FutureExt as _, StreamExt as _, future::select, stream::SelectAll};
pub use records::RecordStream;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
pub use summary::FleetSummarySnapshot;
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};
pub use workers::Depth;

use crate::{
    holder::FleetTimeouts,
    journal::TaskJournalEntry,
    store::{FleetRecord, FleetStore, Place, Revision, StoreError, TaskDelivery},
    task::{MachineCapabilities, TaskId, TaskRequirements},
};

/// Delay before a worker looks into the queue again without an announcement of a task: a task that was not
/// held comes back silently.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// The same where it has just asked to hear of tasks: the other servers of a cluster may not have known that yet.
const LOOK_SOON: Duration = Duration::from_millis(200);
/// The most records of one answer.
const CHANGES_MAX: usize = 1_000;
/// A watch without news for so long is made anew: it may have been lost with a connection.
const WATCH_MAX: Duration = Duration::from_secs(30);
/// The least time of a call, and until it is tried again.
const CALL_MIN: Duration = Duration::from_secs(2);
const AGAIN_MIN: Duration = Duration::from_millis(100);
const CLASSES: &str = "class.";

/// The server of a fleet.
#[derive(Clone)]
pub struct NatsStore(Arc<Inner>);

struct Inner {
    client: Client,
    context: Context,
    prefix: String,
    lease: Duration,
    queue: Stream,
    journal: Stream,
    records: kv::Store,
    files: ObjectStore,
    /// The last refusal of the server.
    refusal: connect::Refusal,
    /// The deliveries to this worker, by the number of their messages.
    given: Mutex<HashMap<u64, Message>>,
    /// Classes of tasks, as far as they were read: those of who waits for a task next.
    classes: Mutex<ClassWatcher>,
    /// Classes that are stored.
    released: Mutex<HashSet<String>>,
    consumers: Mutex<HashMap<String, PullConsumer>>,
    /// By the prefix of their keys.
    watches: Mutex<HashMap<String, Arc<Mutex<Option<RecordSubscription>>>>>,
}

/// Records of a kind that are followed.
struct RecordSubscription {
    watch: kv::Watch,
    /// The revision of the last one.
    seen: Revision,
    /// When there was news.
    heard: Instant,
}

/// Classes that are followed.
#[derive(Default)]
struct ClassWatcher {
    known: BTreeMap<String, Class>,
    watch: Option<kv::Watch>,
}

impl ClassWatcher {
    /// Waits for the next class, and takes it in. It never returns without a watch.
    async fn next(&mut self) {
        let Some(watch) = &mut self.watch else { return pending().await };
        match watch.next().await {
            Some(Ok(entry)) => {
                let Some(name) = entry.key.strip_prefix(CLASSES) else { return };
                if let Ok(class) = serde_json::from_slice(&entry.value) {
                    self.known.insert(name.to_owned(), class);
                }
            }
            // It is made anew the next time.
            Some(Err(_)) | None => self.watch = None,
        }
    }

    /// The classes whose needs this offer meets, the most urgent first, as far as they are there already.
    fn met(&self, offer: &MachineCapabilities) -> Vec<String> {
        let mut met: Vec<_> = self.known.iter().filter(|(_, class)| offer.has(&class.needs)).collect();
        met.sort_by_key(|(_, class)| Reverse(class.priority));
        met.into_iter().map(|(name, _)| name.clone()).collect()
    }
}

fn unknown(error: impl Display) -> StoreError {
    StoreError::Unknown(error.to_string())
}

impl NatsStore {
    /// Why a call failed: what the server refused, if it refused something.
    fn unknown(&self, error: impl Display) -> StoreError {
        unknown(connect::last(&self.0.refusal).unwrap_or_else(|| error.to_string()))
    }

    /// The times of the fleet.
    pub fn times(&self) -> FleetTimeouts {
        let lease = self.0.lease;
        FleetTimeouts { lease, call: (lease / 3).max(CALL_MIN), again: (lease / 30).max(AGAIN_MIN) }
    }

    fn journal_subject(&self, task: &TaskId) -> String {
        format!("{}.journal.{task}", self.0.prefix)
    }

    /// The consumer of the tasks of a class. It is the same for all workers.
    async fn consumer(&self, class: &str) -> Result<PullConsumer, StoreError> {
        let mut consumers = self.0.consumers.lock().await;
        if let Some(consumer) = consumers.get(class) {
            return Ok(consumer.clone());
        }
        let config = pull::Config {
            durable_name: Some(class.to_owned()),
            filter_subject: format!("{}.queue.{class}", self.0.prefix),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.0.lease,
            max_deliver: -1,
            max_ack_pending: -1,
            ..pull::Config::default()
        };
        let consumer: PullConsumer =
            self.0.queue.get_or_create_consumer(class, config).await.map_err(unknown)?;
        consumers.insert(class.to_owned(), consumer.clone());
        Ok(consumer)
    }

    /// Takes in the classes that came since.
    async fn read_classes(&self, classes: &mut ClassWatcher) -> Result<(), StoreError> {
        if classes.watch.is_none() {
            let keys = format!("{CLASSES}>");
            classes.watch = Some(self.0.records.watch_with_history(keys).await.map_err(unknown)?);
        }
        while classes.next().now_or_never().is_some() {}
        Ok(())
    }

    /// Stores what a class stands for, so that workers look for its tasks.
    async fn store_class(&self, name: &str, class: &[u8]) -> Result<(), StoreError> {
        let mut released = self.0.released.lock().await;
        if !released.contains(name) {
            match self.put(&format!("{CLASSES}{name}"), 0, class).await {
                Ok(_) | Err(StoreError::Changed) => {}
                Err(error @ StoreError::Unknown(_)) => return Err(error),
            }
            released.insert(name.to_owned());
        }
        Ok(())
    }

    /// A task that can be given at once.
    async fn try_pull(&self, classes: &[String]) -> Result<Option<TaskDelivery>, StoreError> {
        for class in classes {
            let consumer = self.consumer(class).await?;
            let mut batch = consumer.fetch().max_messages(1).messages().await.map_err(unknown)?;
            // A lost answer would be waited for without end.
            let answer = timeout(self.times().call, batch.next()).await;
            let Some(message) = answer.map_err(unknown)? else { continue };
            let message = message.map_err(unknown)?;
            let Some(task) = std::str::from_utf8(&message.payload).ok().and_then(|id| TaskId::new(id).ok())
            else {
                message.ack_with(AckKind::Term).await.map_err(unknown)?;
                continue;
            };
            let id = message.info().map_err(unknown)?.stream_sequence;
            self.0.given.lock().await.insert(id, message);
            return Ok(Some(TaskDelivery { task, id }));
        }
        Ok(None)
    }

    /// Waits for a task of the classes that this offer meets. Of others, it hears nothing: there may be so many that they would fill its memory.
    async fn wait_for_task(
        &self,
        offer: &MachineCapabilities,
        classes: &mut ClassWatcher,
    ) -> Result<TaskDelivery, StoreError> {
        let (mut queued, mut subscribed) = (SelectAll::new(), HashSet::new());
        loop {
            self.read_classes(classes).await?;
            let (met, mut again) = (classes.met(offer), LOOK_AGAIN);
            for class in &met {
                if subscribed.insert(class.clone()) {
                    again = LOOK_SOON;
                    let subject = format!("{}.queue.{class}", self.0.prefix);
                    queued.push(self.0.client.subscribe(subject).await.map_err(unknown)?);
                }
            }
            // One look finds all tasks that were heard of so far.
            while let Some(Some(_)) = queued.next().now_or_never() {}
            if let Some(delivery) = self.try_pull(&met).await? {
                return Ok(delivery);
            }
            let is_queued = async {
                if queued.next().await.is_none() {
                    pending::<()>().await;
                }
            };
            let _ = timeout(again, select(pin!(is_queued), pin!(classes.next()))).await;
        }
    }

    async fn acknowledge(
        &self,
        delivery: &TaskDelivery,
        kind: AckKind,
        is_last: bool,
    ) -> Result<(), StoreError> {
        let message = self.0.given.lock().await.get(&delivery.id).cloned();
        let Some(message) = message else { return Err(StoreError::Changed) };
        if is_last {
            message.double_ack_with(kind).await.map_err(unknown)?;
            self.0.given.lock().await.remove(&delivery.id);
        } else {
            message.ack_with(kind).await.map_err(unknown)?;
        }
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Tasks that are alike for the queue.
#[derive(Debug, Serialize, Deserialize)]
struct Class {
    needs: TaskRequirements,
    priority: u8,
}

impl Class {
    /// Its name, and its record.
    fn named(&self) -> Result<(String, Vec<u8>), StoreError> {
        let text = serde_json::to_vec(self).map_err(unknown)?;
        let hash = Sha256::digest(&text);
        Ok((hex(hash.get(..8).unwrap_or_default()), text))
    }
}

impl FleetStore for NatsStore {
    async fn release(
        &self,
        task: &TaskId,
        needs: &TaskRequirements,
        priority: u8,
        message: &str,
    ) -> Result<(), StoreError> {
        let (class, text) = Class { needs: needs.clone(), priority: priority.min(9) }.named()?;
        self.store_class(&class, &text).await?;
        let subject = format!("{}.queue.{class}", self.0.prefix);
        let mut headers = HeaderMap::new();
        headers.insert(async_nats::header::NATS_MESSAGE_ID, message);
        let sent = self.0.context.publish_with_headers(subject, headers, task.to_string().into()).await;
        sent.map_err(unknown)?.await.map_err(|error| self.unknown(error))?;
        Ok(())
    }

    async fn pull(&self, offer: &MachineCapabilities) -> Result<TaskDelivery, StoreError> {
        // Where several wait at once, each of them follows the classes.
        let mut classes = std::mem::take(&mut *self.0.classes.lock().await);
        let delivery = self.wait_for_task(offer, &mut classes).await;
        *self.0.classes.lock().await = classes;
        delivery
    }

    async fn keep(&self, delivery: &TaskDelivery) -> Result<(), StoreError> {
        self.acknowledge(delivery, AckKind::Progress, false).await
    }

    async fn finish(&self, delivery: &TaskDelivery) -> Result<(), StoreError> {
        self.acknowledge(delivery, AckKind::Ack, true).await
    }

    async fn give_back(&self, delivery: &TaskDelivery, after: Duration) -> Result<(), StoreError> {
        self.acknowledge(delivery, AckKind::Nak(Some(after)), false).await?;
        self.0.given.lock().await.remove(&delivery.id);
        Ok(())
    }

    async fn held(&self) -> Result<u64, StoreError> {
        Ok(self.depth().await?.held)
    }

    async fn append(
        &self,
        task: &TaskId,
        after: Place,
        entry: &TaskJournalEntry,
    ) -> Result<Place, StoreError> {
        let mut headers = HeaderMap::new();
        headers.insert(async_nats::header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, after.to_string().as_str());
        let text = serde_json::to_vec(entry).map_err(unknown)?;
        let sent =
            self.0.context.publish_with_headers(self.journal_subject(task), headers, text.into()).await;
        match sent.map_err(unknown)?.await {
            Ok(stored) => Ok(stored.sequence),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Err(StoreError::Changed),
            Err(error) => Err(self.unknown(error)),
        }
    }

    async fn journal(&self, task: &TaskId) -> Result<Vec<(Place, TaskJournalEntry)>, StoreError> {
        self.entries(task).await
    }

    async fn file(&self, hash: &str) -> Result<Vec<u8>, StoreError> {
        self.read_file(hash).await
    }

    async fn get(&self, key: &str) -> Result<Option<FleetRecord>, StoreError> {
        let entry = self.0.records.entry(key).await.map_err(unknown)?;
        let entry = entry.filter(|entry| entry.operation == Operation::Put);
        Ok(entry.map(|entry| FleetRecord {
            key: key.to_owned(),
            revision: entry.revision,
            value: entry.value.to_vec(),
        }))
    }

    async fn changes(&self, prefix: &str, after: Revision) -> Result<Vec<FleetRecord>, StoreError> {
        let following = Arc::clone(self.0.watches.lock().await.entry(prefix.to_owned()).or_default());
        let mut following = following.lock().await;
        // One that is silent for long may have been lost with a connection.
        let is_known =
            following.as_ref().is_some_and(|one| one.seen <= after && one.heard.elapsed() < WATCH_MAX);
        if !is_known {
            let keys = format!("{prefix}>");
            let watch = match after {
                0 => self.0.records.watch_with_history(&keys).await,
                after => self.0.records.watch_from_revision(&keys, after + 1).await,
            };
            *following = Some(RecordSubscription {
                watch: watch.map_err(unknown)?,
                seen: after,
                heard: Instant::now(),
            });
        }
        let Some(RecordSubscription { watch, seen, heard }) = following.as_mut() else {
            return Ok(Vec::new());
        };
        let mut next = watch.next().await;
        let mut found = Vec::new();
        while let Some(Ok(entry)) = next {
            (*seen, *heard) = (entry.revision, Instant::now());
            if entry.operation == Operation::Put {
                found.push(FleetRecord {
                    key: entry.key,
                    revision: entry.revision,
                    value: entry.value.to_vec(),
                });
            }
            if found.len() >= CHANGES_MAX {
                return Ok(found);
            }
            match watch.next().now_or_never() {
                Some(more) => next = more,
                None => return Ok(found),
            }
        }
        // It is made anew the next time.
        *following = None;
        if found.is_empty() { Err(unknown("the watch of records has ended")) } else { Ok(found) }
    }

    async fn put(&self, key: &str, revision: Revision, value: &[u8]) -> Result<Revision, StoreError> {
        let value = Bytes::copy_from_slice(value);
        if revision == 0 {
            return self.0.records.create(key, value).await.map_err(|error| match error.kind() {
                CreateErrorKind::AlreadyExists => StoreError::Changed,
                CreateErrorKind::InvalidKey
                | CreateErrorKind::Publish
                | CreateErrorKind::Ack
                | CreateErrorKind::Other => self.unknown(error),
            });
        }
        self.0.records.update(key, value, revision).await.map_err(|error| match error.kind() {
            UpdateErrorKind::WrongLastRevision => StoreError::Changed,
            UpdateErrorKind::InvalidKey | UpdateErrorKind::TimedOut | UpdateErrorKind::Other => {
                self.unknown(error)
            }
        })
    }
}
