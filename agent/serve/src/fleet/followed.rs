//! Records of a fleet, shared by all who watch it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use deskhand_fleet::{nats::NatsStore, store::StoreError, task::TaskId};
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::watch;

use super::overview::{FOLLOWED, FleetOverview, Whereabouts};

/// The most records that are taken in before others may look.
const AT_ONCE: usize = 500;

/// An overview that goes on.
#[derive(Debug, Default)]
pub struct OverviewFollower {
    overview: Mutex<FleetOverview>,
    changed: watch::Sender<u64>,
}

impl OverviewFollower {
    /// Follows the records of a fleet until the connection ends. `is_current` hears when all has come that was there.
    ///
    /// # Errors
    /// Always: why it ended.
    pub async fn follow(
        &self,
        store: &NatsStore,
        is_current: impl Fn() + Send,
    ) -> Result<std::convert::Infallible, StoreError> {
        let mut changes = store.follow_records(&FOLLOWED).await?;
        // Without any record there is none that says so.
        is_current();
        // What was removed while nobody followed is not heard of.
        *self.overview() = FleetOverview::default();
        loop {
            let ended = || StoreError::Unknown("the connection has ended".to_owned());
            let mut next = Some(changes.next().await.ok_or_else(ended)?);
            let (mut is_news, mut count) = (false, 0);
            while let Some(change) = next {
                is_news |= self.overview().learn(change?);
                count += 1;
                next = if count < AT_ONCE { changes.next().now_or_never().flatten() } else { None };
            }
            if is_news {
                self.changed.send_modify(|version| *version = version.wrapping_add(1));
            }
        }
    }

    /// The overview as it is now.
    pub fn overview(&self) -> MutexGuard<'_, FleetOverview> {
        self.overview.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the location and state of a task; `None` if there is none of this id.
    pub fn whereabouts(&self, task: &TaskId) -> Option<Whereabouts> {
        self.overview().whereabouts(task)
    }

    /// Becomes another number whenever something is new.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}
