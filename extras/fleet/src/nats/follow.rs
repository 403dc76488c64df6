//! Live views of records and journals: their current state and every change. Nothing is polled.

use async_nats::jetstream::{
    consumer::{OrderedPullConsumer, pull},
    kv::Operation,
    stream::RawMessageErrorKind,
};
use futures_util::{Stream, StreamExt as _};

use super::{NatsStore, unknown};
use crate::{
    journal::TaskJournalEntry,
    store::{Place, StoreError},
    task::TaskId,
};

/// A record as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordChange {
    /// Its key.
    pub key: String,
    /// The content; `None` if the record was removed.
    pub value: Option<Vec<u8>>,
    /// When it was written, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// `true` if all initial records have arrived.
    pub is_current: bool,
}

/// A journal from its beginning on.
pub struct FollowedJournal<S> {
    /// The place of the last entry when this began; 0 without one.
    pub last: Place,
    /// The entries with their places. It ends with the connection.
    pub entries: S,
}

impl NatsStore {
    /// The records whose keys begin with one of these, first as they are, then as they change.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if no answer comes.
    pub async fn follow_records(
        &self,
        prefixes: &[&str],
    ) -> Result<impl Stream<Item = Result<RecordChange, StoreError>> + Unpin + use<>, StoreError> {
        let keys: Vec<String> = prefixes.iter().map(|prefix| format!("{prefix}>")).collect();
        let watch = self.0.records.watch_many_with_history(keys).await.map_err(unknown)?;
        Ok(watch.map(|entry| {
            let entry = entry.map_err(unknown)?;
            let value = (entry.operation == Operation::Put).then(|| entry.value.to_vec());
            let at_ms = u64::try_from(entry.created.unix_timestamp_nanos() / 1_000_000).unwrap_or_default();
            Ok(RecordChange { key: entry.key, value, at_ms, is_current: entry.seen_current })
        }))
    }

    /// The journal of a task, first as it is, then as it grows.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if no answer comes.
    pub async fn follow_journal(
        &self,
        task: &TaskId,
    ) -> Result<
        FollowedJournal<impl Stream<Item = Result<(Place, TaskJournalEntry), StoreError>> + Unpin + use<>>,
        StoreError,
    > {
        let subject = self.journal_subject(task);
        let last = match self.0.journal.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => message.sequence,
            Err(error) if matches!(error.kind(), RawMessageErrorKind::NoMessageFound) => 0,
            Err(error) => return Err(unknown(error)),
        };
        let config = pull::OrderedConfig { filter_subject: subject, ..pull::OrderedConfig::default() };
        let consumer: OrderedPullConsumer = self.0.journal.create_consumer(config).await.map_err(unknown)?;
        let messages = consumer.messages().await.map_err(unknown)?;
        let entries = messages.map(|message| {
            let message = message.map_err(unknown)?;
            let place = message.info().map_err(unknown)?.stream_sequence;
            Ok((place, serde_json::from_slice(&message.payload).map_err(unknown)?))
        });
        Ok(FollowedJournal { last, entries })
    }
}
