//! Calls to the server: bounded in time, and made again where that does no harm.

use std::{future::Future, time::Duration};

use tokio::time::{Instant, timeout};

use crate::{
    journal::TaskJournalEntry,
    keys::outcome_key,
    pace::pause,
    plan::OutcomeRecord,
    store::{FleetStore, Place, StoreError},
    task::TaskId,
};

/// Times that hold for a whole fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FleetTimeouts {
    /// Who has not renewed the lease of a task for so long has lost it.
    pub lease: Duration,
    /// Maximum time of a call to the server.
    pub call: Duration,
    /// Delay before a call is retried.
    pub again: Duration,
}

impl FleetTimeouts {
    /// Returns the interval at which a lease is renewed.
    pub(crate) fn renewal(&self) -> Duration {
        self.lease / 4
    }

    /// For how long after its last renewal began a holder acts. The rest is for what it has begun by then, and for clocks that run at
    /// different rates: one that is not twice as fast as another one, less what an action takes.
    pub(crate) fn acting(&self) -> Duration {
        self.lease / 2
    }
}

/// The lease of a task is lost, or cannot be shown to be there: nothing more may be done with the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the lease of the task is lost")]
pub struct LeaseLost;

/// Appends an entry, however often the server has to be asked.
pub(crate) async fn append<S: FleetStore>(
    store: &S,
    times: &FleetTimeouts,
    task: &TaskId,
    after: Place,
    entry: &TaskJournalEntry,
) -> Result<Place, LeaseLost> {
    let begun = Instant::now();
    while begun.elapsed() < times.lease {
        match bounded(times, store.append(task, after, entry)).await {
            Ok(place) => return Ok(place),
            // If no answer came to an earlier try, it may be ours that follows.
            Err(StoreError::Changed | StoreError::Unknown(_)) => {}
        }
        match bounded(times, store.journal(task)).await {
            Ok(entries) => match entries.iter().find(|(place, _)| *place > after) {
                // Between two writers stands the name of the second one.
                Some((place, found)) if found == entry => return Ok(*place),
                Some(_) => return Err(LeaseLost),
                None => {}
            },
            Err(StoreError::Changed | StoreError::Unknown(_)) => {}
        }
        pause(times.again).await;
    }
    Err(LeaseLost)
}

/// A call that takes no longer than one may.
pub(crate) async fn bounded<T>(
    times: &FleetTimeouts,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    timeout(times.call, call)
        .await
        .unwrap_or_else(|_| Err(StoreError::Unknown(format!("no answer within {:?}", times.call))))
}

/// Writes the outcome of a task, unless it has one.
pub(crate) async fn put_outcome<S: FleetStore>(
    store: &S,
    times: &FleetTimeouts,
    task: &TaskId,
    outcome: impl Into<OutcomeRecord> + Send,
) -> Result<(), StoreError> {
    let value =
        serde_json::to_vec(&outcome.into()).map_err(|error| StoreError::Unknown(error.to_string()))?;
    match bounded(times, store.put(&outcome_key(task), 0, &value)).await {
        Ok(_) | Err(StoreError::Changed) => Ok(()),
        Err(error @ StoreError::Unknown(_)) => Err(error),
    }
}
