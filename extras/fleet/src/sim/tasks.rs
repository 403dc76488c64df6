//! The tasks of a simulated fleet: the same for the same seed.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{Chance, SimSettings, faults::seconds};
use crate::task::{MachineCapabilities, OnLoss, TaskId, TaskRequirements, TaskSpec};

/// A label that some tasks need and every tenth worker has.
const RARE: &str = "rare";
/// The label of tasks that do not finish.
pub(super) const FAILS: &str = "fails";
/// A label with a limit.
pub(super) const LIMITED: &str = "licence";
/// Time for which a task thinks before and after each action, in seconds.
const THINKS_S: (f64, f64) = (2.0, 8.0);
/// The most actions of a task.
const ACTIONS_MAX: u64 = 5;
/// Maximum delay until the effect of an action shows, as a fraction of a lease.
const SHOWS: f64 = 0.2;
/// Number of tasks per thousand that are cancelled, and the maximum delay in seconds.
const CANCELLED: u64 = 2;
const CANCELLED_AFTER_S: f64 = 120.0;

pub(super) struct SimTaskGenerator {
    seed: u64,
    count: u64,
    limit: usize,
    /// Number of tasks per million with a limit.
    limited: u32,
    /// Total time of the tasks when spread over all workers without pauses, in seconds.
    all_s: f64,
    load: f64,
    shows_s: f64,
}

/// Returns the offer of a worker.
pub(super) fn offer(number: usize) -> MachineCapabilities {
    let labels = if number.is_multiple_of(10) { [RARE.to_owned()].into() } else { [].into() };
    MachineCapabilities { labels, ..MachineCapabilities::default() }
}

fn id_of(number: u64) -> Option<TaskId> {
    TaskId::new(format!("t{number}")).ok()
}

impl SimTaskGenerator {
    pub(super) fn new(setting: &SimSettings, seed: u64) -> Self {
        let shows_s = setting.lease_s * SHOWS;
        let count = setting.tasks;
        let mut tasks = Self {
            seed,
            count,
            limit: setting.workers.div_ceil(50),
            limited: setting.limited,
            all_s: 0.0,
            load: setting.load,
            shows_s,
        };
        let actions: u64 = (0..count).map(|number| tasks.actions(number)).sum();
        let action_s = THINKS_S.0 + THINKS_S.1 + shows_s / 2.0;
        tasks.all_s = actions as f64 * action_s / setting.workers.max(1) as f64;
        tasks
    }

    fn chance(&self, number: u64) -> Chance {
        Chance::new(self.seed ^ number.wrapping_mul(0x2545_F491_4F6C_DD1D))
    }

    /// Returns the number of actions of a task.
    pub(super) fn actions(&self, number: u64) -> u64 {
        1 + self.chance(number).below(ACTIONS_MAX)
    }

    pub(super) fn spec(&self, number: u64) -> Option<TaskSpec> {
        let id = id_of(number)?;
        let chance = self.chance(number);
        let actions = 1 + chance.below(ACTIONS_MAX);
        let one_in = |times: u64| chance.below(times) == 0;
        let (is_after, is_rare, is_limited) = (one_in(10), one_in(20), chance.happens(self.limited));
        let (fails, is_urgent) = (one_in(200), one_in(10));
        let (is_afresh, is_person) = (one_in(10), one_in(10));
        let earlier = |most: u64| number.checked_sub(1 + chance.below(most)).and_then(id_of);
        let mut labels = BTreeSet::new();
        labels.extend(is_limited.then(|| LIMITED.to_owned()));
        labels.extend(fails.then(|| FAILS.to_owned()));
        Some(TaskSpec {
            after: if is_after {
                [earlier(1), earlier(50)].into_iter().flatten().collect()
            } else {
                [].into()
            },
            needs: TaskRequirements {
                labels: is_rare.then(|| RARE.to_owned()).into_iter().collect(),
                ..TaskRequirements::default()
            },
            priority: if is_urgent { 5 } else { 0 },
            on_loss: match (is_afresh, is_person) {
                (true, _) => OnLoss::Afresh,
                (false, true) => OnLoss::Person,
                (false, false) => OnLoss::Resume,
            },
            labels,
            work: actions.into(),
            ..TaskSpec::new(id)
        })
    }

    /// When a task comes.
    pub(super) fn comes(&self, number: u64) -> Duration {
        if self.load <= 0.0 {
            return Duration::ZERO;
        }
        seconds(self.all_s / self.load * number as f64 / self.count as f64)
    }

    /// Returns the delay between the arrival of a task and its cancellation; `None` if it is not cancelled.
    pub(super) fn is_cancelled(&self, number: u64) -> Option<Duration> {
        let chance = Chance::new(self.seed ^ !number);
        let after = chance.within((0.0, CANCELLED_AFTER_S));
        (chance.below(1_000) < CANCELLED).then(|| seconds(after))
    }

    /// Returns the time for which a task thinks before and after an action, and the time until an action shows.
    pub(super) fn times(&self) -> ((Duration, Duration), (Duration, Duration)) {
        ((seconds(THINKS_S.0), seconds(THINKS_S.1)), (Duration::ZERO, seconds(self.shows_s)))
    }

    /// Returns the minimum time of the tasks, if no worker ever waits.
    pub(super) fn ideal(&self) -> Duration {
        seconds(if self.load > 0.0 { self.all_s / self.load.min(1.0) } else { self.all_s })
    }

    /// Returns the number of tasks with the limited label that may run at once.
    pub(super) const fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn limits(&self) -> BTreeMap<String, usize> {
        [(LIMITED.to_owned(), self.limit)].into()
    }
}
