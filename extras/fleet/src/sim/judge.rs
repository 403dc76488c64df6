//! Report on a simulated fleet by its world: nothing here trusts the reports of the fleet about itself.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap},
};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{
    SimServer, SimSettings, World,
    server::SimServerState,
    tasks::{LIMITED, SimTaskGenerator},
    world::{SimRunSpan, SimTaskHistory, hash},
};
use crate::{
    holder::outcome_key,
    journal::{TaskJournalEntry, TaskOutcome},
    task::{TaskId, TaskSpec},
};

/// The most tasks that are named because something is wrong with them.
const WRONG_MAX: usize = 20;

/// Times in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Half of them are not longer.
    pub median: f64,
    /// Of a hundred, 99 are not longer.
    pub p99: f64,
    /// The longest.
    pub longest: f64,
}

/// The report on a simulated fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimReport {
    /// The simulated setting.
    pub setting: SimSettings,
    /// Until the last outcome, by the virtual clock.
    pub virtual_s: f64,
    /// Tasks in a second of the virtual clock, until 99 % of them had an outcome.
    pub throughput: f64,
    /// The same if no worker ever waited or was lost, as far as so many tasks come.
    pub ideal: f64,
    /// From when a task could begin until a worker had it, in seconds. Without those that a limit holds up.
    pub waits_s: Spread,
    /// Tasks that have one outcome, which their journal confirms.
    pub accounted: u64,
    /// Number of tasks by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Tasks that more than one worker had.
    pub taken_over: u64,
    /// Actions that were done.
    pub effects: u64,
    /// Actions that were done more than once.
    pub effects_twice: u64,
    /// Actions of a worker after another one had the task.
    pub effects_late: u64,
    /// Actions of tasks that ended well which were never done.
    pub effects_missing: u64,
    /// Tasks that began before those that they come after had ended well.
    pub too_early: u64,
    /// Tasks that began while as many with their label ran as may.
    pub over_limit: u64,
    /// Lines in journals.
    pub lines: u64,
    /// Lines that the server said to be stored and that are not in their place.
    pub lines_lost: u64,
    /// Lines that are stored twice.
    pub lines_doubled: u64,
    /// The first tasks with which something is wrong.
    pub wrong: Vec<String>,
    /// Requests by kind.
    pub requests: BTreeMap<String, u64>,
    /// Injected faults, counted by kind and by the process they hit.
    pub befell: BTreeMap<String, u64>,
}

impl SimReport {
    /// Returns `true` if each task is accounted for, nothing was lost, and nothing was done twice.
    pub fn is_sound(&self) -> bool {
        self.accounted == self.setting.tasks && self.wrongs() == 0
    }

    /// Returns the number of errors, besides tasks that are not accounted for.
    fn wrongs(&self) -> u64 {
        let effects = self.effects_twice + self.effects_late + self.effects_missing;
        effects + self.too_early + self.over_limit + self.lines_lost + self.lines_doubled
    }
}

/// Judges a fleet that has come to its end.
pub(super) fn judge(
    setting: &SimSettings,
    tasks: &SimTaskGenerator,
    server: &SimServer,
    world: &World,
    befell: BTreeMap<String, u64>,
) -> SimReport {
    let state = server.state();
    let mut report = empty(setting, befell);
    report.requests = state.requests.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect();
    let (mut waits, mut ended, mut spans) = (Vec::new(), Vec::new(), Vec::new());
    for spec in (0..setting.tasks).filter_map(|number| tasks.spec(number)) {
        let (accounted, wrongs) = (report.accounted, report.wrongs());
        let times = state.tasks.get(&spec.id).map(|kept| kept.times).unwrap_or_default();
        ended.extend(times.ended);
        let before = spec.after.iter().map(|id| state.tasks.get(id).and_then(|kept| kept.times.ended));
        let could_begin = before.chain([times.came]).collect::<Option<Vec<u32>>>();
        let could_begin = could_begin.and_then(|times| times.into_iter().max());
        if let (Some(taken), false) = (times.taken, spec.labels.contains(LIMITED)) {
            match could_begin {
                Some(could_begin) => waits.push(taken.saturating_sub(could_begin)),
                None => report.too_early += 1,
            }
        }
        let entries = state.journal(&spec.id).unwrap_or_default();
        let entries: Vec<TaskJournalEntry> = entries.into_iter().map(|(_, entry)| entry).collect();
        let done = world.done(&spec.id);
        outcome(&mut report, &state, &spec, &entries, &done);
        effects(&mut report, &done);
        lines(&mut report, &entries, &done);
        spans.extend(joined(done.spans));
        let is_right = report.accounted > accounted && report.wrongs() == wrongs;
        if !is_right && report.wrong.len() < WRONG_MAX {
            let outcome = outcome_of(&state, &spec.id);
            report.wrong.push(format!("{} after {:?}: {outcome:?}, {entries:?}", spec.id, spec.after));
        }
    }
    report.over_limit = over(spans, tasks.limit());
    report.waits_s = spread(waits);
    ended.sort_unstable();
    report.virtual_s = ended.last().map_or(0.0, |last| f64::from(*last) / 1_000.0);
    let most = ended.len() * 99 / 100;
    let until = most.checked_sub(1).and_then(|last| ended.get(last)).map_or(0.0, |last| f64::from(*last));
    report.throughput = most as f64 * 1_000.0 / until.max(1.0);
    report.ideal = setting.tasks as f64 / tasks.ideal().as_secs_f64().max(0.001);
    report
}

fn empty(setting: &SimSettings, befell: BTreeMap<String, u64>) -> SimReport {
    SimReport {
        setting: setting.clone(),
        virtual_s: 0.0,
        throughput: 0.0,
        ideal: 0.0,
        waits_s: Spread::default(),
        accounted: 0,
        outcomes: BTreeMap::new(),
        taken_over: 0,
        effects: 0,
        effects_twice: 0,
        effects_late: 0,
        effects_missing: 0,
        too_early: 0,
        over_limit: 0,
        lines: 0,
        lines_lost: 0,
        lines_doubled: 0,
        wrong: Vec::new(),
        requests: BTreeMap::new(),
        befell,
    }
}

fn outcome_of(state: &SimServerState, task: &TaskId) -> Option<TaskOutcome> {
    let record = state.get(&outcome_key(task), std::time::Duration::ZERO)?;
    serde_json::from_slice(&record.value).ok()
}

/// Compares the outcome of a task with its journal, with what was done, and with what it comes after.
fn outcome(
    report: &mut SimReport,
    state: &SimServerState,
    spec: &TaskSpec,
    entries: &[TaskJournalEntry],
    done: &SimTaskHistory,
) {
    report.taken_over +=
        u64::from(entries.iter().filter(|entry| matches!(entry, TaskJournalEntry::Taken { .. })).count() > 1);
    let ends = entries.iter().filter(|entry| matches!(entry, TaskJournalEntry::Ended { .. })).count();
    let stored = outcome_of(state, &spec.id);
    let is_finished =
        |task: &TaskId| matches!(outcome_of(state, task), Some(TaskOutcome::Done { finished: true, .. }));
    if !entries.is_empty() && !done.lines.is_empty() && !spec.after.iter().all(is_finished) {
        report.too_early += 1;
    }
    let is_confirmed = match (&stored, entries.last()) {
        (Some(TaskOutcome::Blocked { by }), None) => spec.after.contains(by) && !is_finished(by),
        (Some(stored), Some(TaskJournalEntry::Ended { outcome })) => ends == 1 && stored == outcome,
        (Some(_) | None, _) => false,
    };
    report.accounted += u64::from(is_confirmed);
    let (name, is_whole) = match &stored {
        Some(TaskOutcome::Done { finished: true, .. }) => ("finished", true),
        Some(TaskOutcome::Done { finished: false, .. }) => ("not finished", true),
        Some(TaskOutcome::Failed { .. }) => ("failed", false),
        Some(TaskOutcome::DeadLetter { .. }) => ("dead letter", false),
        Some(TaskOutcome::Person { .. }) => ("person", false),
        Some(TaskOutcome::Cancelled) => ("cancelled", false),
        Some(TaskOutcome::Blocked { .. }) => ("blocked", false),
        Some(TaskOutcome::Expired { .. }) => ("expired", false),
        Some(TaskOutcome::OverBudget { .. }) => ("over budget", false),
        Some(TaskOutcome::Refused { .. }) => ("refused", false),
        None => ("none", false),
    };
    *report.outcomes.entry(name.to_owned()).or_default() += 1;
    if is_whole {
        let all = spec.work.as_u64().unwrap_or_default();
        let are_done = done.actions.iter().filter(|times| **times > 0).count() as u64;
        report.effects_missing += all.saturating_sub(are_done);
    }
}

fn effects(report: &mut SimReport, done: &SimTaskHistory) {
    report.effects += done.actions.iter().filter(|times| **times > 0).count() as u64;
    report.effects_twice += done.actions.iter().filter(|times| **times > 1).count() as u64;
    report.effects_late += u64::from(done.late);
}

/// Compares the lines of a journal with what their writers know to be stored.
fn lines(report: &mut SimReport, entries: &[TaskJournalEntry], done: &SimTaskHistory) {
    let (mut seen, mut stored) = (BTreeSet::new(), HashMap::<u32, Vec<u64>>::new());
    for entry in entries {
        let (TaskJournalEntry::Acts(part) | TaskJournalEntry::Lines(part)) = entry else { continue };
        let line = part.lines.as_str();
        report.lines += 1;
        if !seen.insert(line) {
            report.lines_doubled += 1;
            continue;
        }
        let run = line.split_once('.').and_then(|(run, _)| run.parse().ok()).unwrap_or_default();
        stored.entry(run).or_default().push(hash(line));
    }
    for (run, known) in &done.lines {
        let stored = stored.get(run).map(Vec::as_slice).unwrap_or_default();
        let lost = known.iter().enumerate().filter(|(place, line)| stored.get(*place) != Some(line));
        report.lines_lost += lost.count() as u64;
    }
}

/// The times in which somebody did a task. A worker that was lost may have gone on for a while beside its successor.
fn joined(mut spans: Vec<SimRunSpan>) -> Vec<(Instant, Instant)> {
    spans.sort_unstable();
    let mut joined: Vec<(Instant, Instant)> = Vec::new();
    for SimRunSpan { begun, seen, .. } in spans {
        match joined.last_mut().filter(|(_, last)| *last >= begun) {
            Some((_, last)) => *last = seen.max(*last),
            None => joined.push((begun, seen)),
        }
    }
    joined
}

/// Returns the number of spans that began while `limit` others or more were active.
fn over(mut spans: Vec<(Instant, Instant)>, limit: usize) -> u64 {
    spans.sort_unstable();
    let (mut ends, mut over) = (BinaryHeap::new(), 0);
    for (begun, seen) in spans {
        while ends.peek().is_some_and(|Reverse(end)| *end <= begun) {
            ends.pop();
        }
        over += u64::from(ends.len() >= limit);
        ends.push(Reverse(seen));
    }
    over
}

fn spread(mut times_ms: Vec<u32>) -> Spread {
    times_ms.sort_unstable();
    let at = |part: usize| {
        let place = (times_ms.len() * part / 100).min(times_ms.len().saturating_sub(1));
        times_ms.get(place).map_or(0.0, |time| f64::from(*time) / 1_000.0)
    };
    Spread { median: at(50), p99: at(99), longest: at(100) }
}
