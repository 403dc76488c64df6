//! Summary of all tasks by the leading controller, and its age.

use std::time::{Duration, SystemTime};

use async_nats::jetstream::{
    consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull},
    kv::Operation,
};

use super::{NatsStore, records::CONSUMER_LEFT, unknown};
use crate::{
    holder::{OUTCOMES, TASKS},
    plan::{FleetSummary, SUMMARY},
    store::{Revision, StoreError},
};

/// A summary as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetSummarySnapshot {
    /// The summary itself.
    pub summary: FleetSummary,
    /// Time since it was written.
    pub age: Duration,
    /// Number of records of tasks and outcomes that were written since and are not in it.
    pub changes: u64,
}

impl NatsStore {
    /// Returns the last summary of all tasks by the leading controller; `None` if there is none.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if no answer comes.
    pub async fn summary(&self) -> Result<Option<FleetSummarySnapshot>, StoreError> {
        let entry = self.0.records.entry(SUMMARY).await.map_err(unknown)?;
        let Some(entry) = entry.filter(|entry| entry.operation == Operation::Put) else { return Ok(None) };
        let Ok(summary) = serde_json::from_slice::<FleetSummary>(&entry.value) else { return Ok(None) };
        let changes =
            self.newer(TASKS, summary.tasks).await? + self.newer(OUTCOMES, summary.outcomes).await?;
        // The clock of this machine may be wrong: what was written last was not written later than now.
        let last = self.0.records.stream.get_info().await.map_err(unknown)?.state.last_timestamp;
        let by_server = Duration::try_from(last - entry.created).unwrap_or_default();
        let by_clock = SystemTime::now().duration_since(entry.created.into()).unwrap_or_default();
        Ok(Some(FleetSummarySnapshot { summary, age: by_server.max(by_clock), changes }))
    }

    /// Returns the number of records with a key prefix that were written after a revision.
    async fn newer(&self, prefix: &str, after: Revision) -> Result<u64, StoreError> {
        let config = pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: after + 1 },
            filter_subject: format!("$KV.{}.{prefix}>", self.0.records.name),
            ack_policy: AckPolicy::None,
            inactive_threshold: CONSUMER_LEFT,
            memory_storage: true,
            num_replicas: 1,
            ..pull::Config::default()
        };
        let stream = &self.0.records.stream;
        let consumer: PullConsumer = stream.create_consumer(config).await.map_err(unknown)?;
        let found = consumer.cached_info().num_pending;
        // One that is not removed goes by itself, later.
        let _ = stream.delete_consumer(&consumer.cached_info().name).await;
        Ok(found)
    }
}
