//! Calls to the server: bounded in time, and made again where that does no harm.

use std::future::Future;

use tokio::time::{Instant, timeout};

use crate::{
    holder::{FleetTimeouts, LeaseLost, outcome_key},
    journal::TaskJournalEntry,
    pace::pause,
    plan::OutcomeRecord,
    store::{FleetStore, Place, StoreError},
    task::TaskId,
};

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
