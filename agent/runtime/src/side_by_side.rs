//! Runs several sessions in one process, each on its own desktop.

use std::collections::VecDeque;

use tokio::task::{JoinError, JoinSet};

/// Runs sessions concurrently, at most `concurrency_max` at a time, and returns their results in input order. Each is a
/// separate task: a panic becomes that session's error and does not affect the others. Dropping the future aborts all.
///
/// A session is a future that owns its desktop, model and options.
pub async fn side_by_side<T: Send + 'static>(
    concurrency_max: usize,
    sessions: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<Result<T, JoinError>> {
    let mut waiting: VecDeque<_> = sessions.into_iter().enumerate().collect();
    let mut results: Vec<Option<Result<T, JoinError>>> = waiting.iter().map(|_| None).collect();
    let mut places = std::collections::HashMap::new();
    let mut running = JoinSet::new();
    loop {
        while running.len() < concurrency_max.max(1)
            && let Some((place, session)) = waiting.pop_front()
        {
            places.insert(running.spawn(session).id(), place);
        }
        let (id, result) = match running.join_next_with_id().await {
            None => break,
            Some(Ok((id, result))) => (id, Ok(result)),
            Some(Err(error)) => (error.id(), Err(error)),
        };
        if let Some(slot) = places.remove(&id).and_then(|place| results.get_mut(place)) {
            *slot = Some(result);
        }
    }
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn results_keep_their_order_and_a_panic_is_isolated() {
        let session = |number: u32| async move {
            tokio::task::yield_now().await;
            assert_ne!(number, 2, "this one panics");
            number
        };
        let results = side_by_side(2, (0..5).map(session)).await;
        let numbers: Vec<Option<u32>> = results.into_iter().map(Result::ok).collect();
        assert_eq!(numbers, [Some(0), Some(1), None, Some(3), Some(4)]);
    }
}
