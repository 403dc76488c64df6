//! Threads that compute side by side, each on a piece of work of its own.
//!
//! One run of a model on several threads waits for the slowest of them after each operator: beside other programs it takes many times
//! as long as on one thread. Whole runs wait for nobody.

use std::{
    cmp::Reverse,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use rten::{RunOptions, ThreadPool};

use super::error::OcrError;

/// The most threads: more are of little use for a window, and others need processors, too.
const THREADS_MAX: usize = 4;

/// Threads for runs of models.
pub(crate) struct InferenceWorkers {
    pools: Vec<Arc<ThreadPool>>,
}

impl InferenceWorkers {
    /// As many as there are processors, up to a few.
    pub(crate) fn new() -> Self {
        let count = thread::available_parallelism().map_or(1, |count| count.get().min(THREADS_MAX));
        Self { pools: (0..count).map(|_| Arc::new(ThreadPool::with_num_threads(1))).collect() }
    }

    /// Returns the number of workers.
    pub(crate) const fn count(&self) -> usize {
        self.pools.len()
    }

    /// Does the same with each item, the largest by `size` first, so that no thread is left alone with one at the end; results in the
    /// order of the items.
    ///
    /// # Errors
    /// The first error of the work.
    pub(crate) fn each<I: Sync, O: Send>(
        &self,
        items: &[I],
        size: impl Fn(&I) -> usize,
        work: impl Fn(&I, RunOptions) -> Result<O, OcrError> + Sync,
    ) -> Result<Vec<O>, OcrError> {
        let mut order: Vec<(usize, &I)> = items.iter().enumerate().collect();
        order.sort_by_key(|(_, item)| Reverse(size(item)));
        let next = AtomicUsize::new(0);
        let run = |pool: &Arc<ThreadPool>| {
            let mut done = Vec::new();
            loop {
                let Some((place, item)) = order.get(next.fetch_add(1, Ordering::Relaxed)) else {
                    return done;
                };
                let options = RunOptions::default().with_thread_pool(Some(Arc::clone(pool)));
                done.push((*place, work(item, options)));
            }
        };
        let run = &run;
        let mut done: Vec<(usize, Result<O, OcrError>)> = thread::scope(|scope| {
            let started: Vec<_> =
                self.pools.iter().take(items.len()).map(|pool| scope.spawn(move || run(pool))).collect();
            started.into_iter().filter_map(|thread| thread.join().ok()).flatten().collect()
        });
        done.sort_unstable_by_key(|(place, _)| *place);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn the_largest_is_begun_first_and_results_keep_their_order() {
        let workers = InferenceWorkers { pools: vec![Arc::new(ThreadPool::with_num_threads(1))] };
        let begun = Mutex::new(Vec::new());
        let sizes = [3, 9, 1, 9, 5];
        let work = |size: &usize, _: RunOptions| {
            begun.lock().unwrap().push(*size);
            Ok(size * 10)
        };
        assert_eq!(workers.each(&sizes, |size| *size, work).unwrap(), [30, 90, 10, 90, 50]);
        assert_eq!(*begun.lock().unwrap(), [9, 9, 5, 3, 1]);
    }
}
