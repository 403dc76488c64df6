//! Begins the schedules that no systemd user manager keeps, each in a process of its own.

use std::{collections::HashMap, future::pending, time::Duration};

use deskhand_host::schedules::{Keeper, Schedules};
use deskhand_runtime::now_ms;
use tokio::time::timeout;

use super::{appears::changes, workers::SessionLauncher};

/// Interval between reads of the folder: a schedule may be added in a terminal, and the clock may be set.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// A schedule that is due: its name, and the time that it is for.
struct Due {
    name: String,
    at_ms: u64,
}

/// Begins what is due; never returns.
pub(super) async fn keep_schedules(
    schedules: &Schedules,
    workers: &SessionLauncher,
) -> std::convert::Infallible {
    let since_ms = now_ms();
    let mut begun: HashMap<String, u64> = HashMap::new();
    loop {
        let reading = schedules.clone();
        let known = begun.clone();
        let coming = tokio::task::spawn_blocking(move || coming(&reading, since_ms, &known)).await;
        let now = now_ms();
        let mut wait = LOOK_EVERY;
        for due in coming.unwrap_or_default() {
            if due.at_ms > now {
                wait = wait.min(Duration::from_millis(due.at_ms - now));
                continue;
            }
            tracing::info!(name = due.name, "a schedule is due");
            if let Err(error) = workers.begin_schedule(&due.name, due.at_ms) {
                tracing::error!(name = due.name, %error, "a schedule cannot be begun");
            }
            begun.insert(due.name, due.at_ms);
        }
        if let Ok(Err(error)) = timeout(wait, changes(schedules.folder())).await {
            tracing::warn!(%error, "the folder of schedules cannot be watched");
            timeout(wait, pending::<()>()).await.ok();
        }
    }
}

/// When each schedule that is ours is due next, as far as it is known what was begun. Blocking.
fn coming(schedules: &Schedules, since_ms: u64, begun: &HashMap<String, u64>) -> Vec<Due> {
    let due = |name: String| {
        let schedule = schedules.find(&name).ok().filter(|schedule| schedule.keeper == Keeper::Service)?;
        let last =
            schedules.last(&name).map_or(schedule.added_ms, |last| last.begun_ms.max(schedule.added_ms));
        // What passed while the service was off is made up for, or not.
        let from = if schedule.catch_up { last } else { last.max(since_ms) };
        let from = from.max(begun.get(&name).copied().unwrap_or_default());
        let first = schedule.due_after(from)?;
        Some(Due { name, at_ms: last_before(first, now_ms(), |ms| schedule.due_after(ms)) })
    };
    schedules.names().unwrap_or_default().into_iter().filter_map(due).collect()
}

/// Of several times that have passed, the last one: they are made up for together. Bounded: of very many, it is one of them.
fn last_before(first: u64, now: u64, next: impl Fn(u64) -> Option<u64>) -> u64 {
    const TRIES: usize = 2_000;
    let mut due = first;
    for _ in 0..TRIES {
        match next(due) {
            Some(later) if later <= now => due = later,
            Some(_) | None => return due,
        }
    }
    due
}

#[cfg(test)]
mod tests {
    use deskhand_host::schedules::{Schedule, ScheduledWork};

    use super::*;

    #[test]
    fn what_passed_is_made_up_for_once_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let schedules = Schedules::at(folder.path());
        let (hour, now) = (3_600_000, now_ms());
        let schedule = |catch_up: bool, keeper: Keeper| {
            let schedule =
                Schedule::new("*:*", ScheduledWork::Request("x".to_owned()), Keeper::Service).unwrap();
            Schedule { catch_up, keeper, added_ms: now - hour, ..schedule }
        };
        schedules.add("caught-up", &schedule(true, Keeper::Service)).unwrap();
        schedules.add("left-out", &schedule(false, Keeper::Service)).unwrap();
        schedules.add("timer", &schedule(true, Keeper::Systemd)).unwrap();
        let due = |begun: &HashMap<String, u64>| {
            let coming = coming(&schedules, now, begun);
            coming.into_iter().map(|due| (due.name, due.at_ms)).collect::<Vec<_>>()
        };
        let first = due(&HashMap::new());
        let [(one, at), (other, later)] = &first[..] else { panic!("{first:?}") };
        assert_eq!((one.as_str(), other.as_str()), ("caught-up", "left-out"));
        // The last minute that began is due, however many passed; and the next one.
        assert!(*at <= now_ms() && at + 120_000 > now, "{at} {now}");
        assert!(*later > now, "{later} {now}");
        let begun = HashMap::from([("caught-up".to_owned(), *at)]);
        assert!(due(&begun).iter().all(|(_, at)| *at > now), "it is due once");
    }
}
