//! Calls to the server: bounded in time, and made again where that does no harm.

use std::future::Future;

use tokio::time::{Instant, timeout};

use crate::{
    holder::{Lost, Times, outcome_key},
    journal::Entry,
    pace::pause,
    plan::OutcomeRecord,
    store::{Place, Store, StoreError},
    task::TaskId,
};

/// Appends an entry, however often the server has to be asked.
pub(crate) async fn append<S: Store>(
    store: &S,
    times: &Times,
    task: &TaskId,
    after: Place,
    entry: &Entry,
) -> Result<Place, Lost> {
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
                Some(_) => return Err(Lost),
                None => {}
            },
            Err(StoreError::Changed | StoreError::Unknown(_)) => {}
        }
        pause(times.again).await;
    }
    Err(Lost)
}

/// A call that takes no longer than one may.
pub(crate) async fn bounded<T>(
    times: &Times,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    timeout(times.call, call)
        .await
        .unwrap_or_else(|_| Err(StoreError::Unknown(format!("no answer within {:?}", times.call))))
}

/// Writes the outcome of a task, unless it has one.
pub(crate) async fn put_outcome<S: Store>(
    store: &S,
    times: &Times,
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
