//! All messages of a kind at once: records, and the entries of a journal.

use std::{collections::BTreeMap, time::Duration};

use async_nats::jetstream::{
    consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull},
    kv::{self, Operation},
    message::Message,
    stream::{RawMessageErrorKind, Stream},
};
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout};

use super::{AGAIN_MIN, CHANGES_MAX, NatsStore, unknown};
use crate::{
    journal::TaskJournalEntry,
    pace::pause,
    store::{FleetRecord, Place, StoreError},
    task::TaskId,
};

/// The header of records that were removed.
pub(super) const OPERATION: &str = "KV-Operation";
/// Time for which the server retains a consumer whose owner is gone.
pub(super) const CONSUMER_LEFT: Duration = Duration::from_secs(10);
/// The entries of a journal that are asked for one by one. More come in one go.
const SINGLE_MAX: usize = 4;

impl NatsStore {
    /// All records whose keys begin with a prefix, in the order of their keys.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if no answer comes.
    pub async fn records(&self, prefix: &str) -> Result<Vec<FleetRecord>, StoreError> {
        let begun = Instant::now();
        loop {
            match self.try_records(prefix).await {
                // A consumer may not be there yet where it is asked.
                Err(_) if begun.elapsed() < self.times().call => pause(AGAIN_MIN).await,
                read => return read,
            }
        }
    }

    /// Follows records with these keys: as they are, and whenever they are written.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if no answer comes.
    pub async fn follow(&self, keys: &[String]) -> Result<RecordStream, StoreError> {
        let keys = keys.iter().map(String::as_str);
        self.0.records.watch_many_with_history(keys).await.map(RecordStream).map_err(unknown)
    }

    async fn try_records(&self, prefix: &str) -> Result<Vec<FleetRecord>, StoreError> {
        let before = format!("$KV.{}.", self.0.records.name);
        let subjects = format!("{before}{prefix}>");
        let mut found = BTreeMap::new();
        let stream = &self.0.records.stream;
        for message in self.read(stream, subjects, DeliverPolicy::LastPerSubject).await? {
            let revision = message.info().map_err(unknown)?.stream_sequence;
            let is_removed = message.headers.as_ref().is_some_and(|headers| headers.get(OPERATION).is_some());
            let Some(key) = message.subject.strip_prefix(&before).filter(|_| !is_removed) else { continue };
            let record = FleetRecord { key: key.to_owned(), revision, value: message.payload.to_vec() };
            found.insert(key.to_owned(), record);
        }
        Ok(found.into_values().collect())
    }

    /// The entries of a journal. The last ones are asked of the leader: a follower may not know them.
    pub(super) async fn entries(&self, task: &TaskId) -> Result<Vec<(Place, TaskJournalEntry)>, StoreError> {
        let (subject, mut entries) = (self.journal_subject(task), Vec::new());
        loop {
            let next = entries.last().map_or(1, |(place, _): &(Place, TaskJournalEntry)| place + 1);
            if entries.len() == SINGLE_MAX {
                let from = DeliverPolicy::ByStartSequence { start_sequence: next };
                // If that fails, the rest comes one by one, too.
                for message in self.read(&self.0.journal, subject.clone(), from).await.unwrap_or_default() {
                    let place = message.info().map_err(unknown)?.stream_sequence;
                    entries.push((place, serde_json::from_slice(&message.payload).map_err(unknown)?));
                }
            }
            let next = entries.last().map_or(next, |(place, _)| place + 1);
            let request = self.0.journal.raw_message_builder().sequence(next).next_by_subject(&subject);
            match request.send().await {
                Ok(message) => {
                    let entry = serde_json::from_slice(&message.payload).map_err(unknown)?;
                    entries.push((message.sequence, entry));
                }
                Err(error) if matches!(error.kind(), RawMessageErrorKind::NoMessageFound) => {
                    return Ok(entries);
                }
                Err(error) => return Err(unknown(error)),
            }
        }
    }

    /// The messages of some subjects that are there, in order.
    pub(super) async fn read(
        &self,
        stream: &Stream,
        subjects: String,
        from: DeliverPolicy,
    ) -> Result<Vec<Message>, StoreError> {
        let config = pull::Config {
            deliver_policy: from,
            filter_subject: subjects,
            ack_policy: AckPolicy::None,
            inactive_threshold: CONSUMER_LEFT,
            memory_storage: true,
            num_replicas: 1,
            ..pull::Config::default()
        };
        let consumer: PullConsumer = stream.create_consumer(config).await.map_err(unknown)?;
        let found = read_all(&consumer, self.times().call).await;
        // One that is not removed goes by itself, later.
        let _ = stream.delete_consumer(&consumer.cached_info().name).await;
        found
    }
}

/// Records that are followed.
pub struct RecordStream(kv::Watch);

impl RecordStream {
    /// Waits for the next one. Removed ones are passed over.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if they are not followed any more: follow them anew.
    pub async fn next(&mut self) -> Result<FleetRecord, StoreError> {
        loop {
            let entry = self.0.next().await.ok_or_else(|| unknown("the watch of records has ended"))?;
            let entry = entry.map_err(unknown)?;
            if entry.operation == Operation::Put {
                let (key, value) = (entry.key, entry.value.to_vec());
                return Ok(FleetRecord { key, revision: entry.revision, value });
            }
        }
    }
}

/// All messages that a consumer has. Each may take so long.
async fn read_all(consumer: &PullConsumer, bound: Duration) -> Result<Vec<Message>, StoreError> {
    let (mut found, mut left) = (Vec::new(), consumer.cached_info().num_pending);
    while left > 0 {
        let mut batch = consumer.fetch().max_messages(CHANGES_MAX).messages().await.map_err(unknown)?;
        let before_batch = left;
        // A lost answer would be waited for without end.
        while let Some(message) = timeout(bound, batch.next()).await.map_err(unknown)? {
            let message = message.map_err(unknown)?;
            if message.info().map_err(unknown)?.consumer_sequence != found.len() as u64 + 1 {
                return Err(unknown("messages were lost on their way"));
            }
            found.push(message);
            left = left.saturating_sub(1);
        }
        if left == before_batch {
            // Records that were written again meanwhile come under their new revisions, to nobody.
            break;
        }
    }
    Ok(found)
}
