//! A round: a cluster, six workers and their tasks, with or without chaos.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

use super::{
    chaos::{self, Fault},
    client,
    crew::{Home, WORKERS, Worker},
    judge::{Verdict, judge},
    servers::{self, Server, first},
};
use crate::{chance::Chance, pace::pause};
use xtask::console;

/// How long a round may take for each of its tasks, and besides.
const TASK_BOUND: Duration = Duration::from_secs(6);
const BOUND: Duration = Duration::from_secs(300);
/// How often it is looked at while nothing goes wrong.
const LOOK: Duration = Duration::from_millis(200);

/// What a round came to.
pub(super) struct Round {
    pub(super) verdict: Verdict,
    /// From the first task sent to the last outcome.
    pub(super) elapsed: Duration,
    /// How often each fault happened.
    pub(super) faults: BTreeMap<Fault, usize>,
    /// How often a worker had ended by itself, and was started again.
    pub(super) restarts: usize,
}

/// The place of a round: its cluster and workers.
pub(super) struct Place {
    pub(super) home: Home,
    pub(super) servers: Vec<Server>,
    pub(super) workers: Vec<Worker>,
}

impl Place {
    /// Starts servers and workers in a new folder.
    pub(super) fn create(
        folder: &Path,
        (binary, endpoint): (&Path, &str),
        chance: &mut Chance,
    ) -> Result<Self> {
        let home = Home::create(folder, binary, endpoint)?;
        let servers = servers::start(folder, chance)?;
        // The first connection decides on lease and replicas, once the servers have found each other.
        home.fleet(&["status"], &servers)?;
        let workers = (0..WORKERS).map(|number| Worker::new(&home, number, &servers));
        let workers = workers.collect::<Result<_>>()?;
        Ok(Self { home, servers, workers })
    }

    /// Starts the workers that do not run; returns how many of them had ended by themselves.
    pub(super) fn start_workers(&mut self, more: &[&str]) -> Result<usize> {
        let mut ended = 0;
        for worker in &mut self.workers {
            ended += usize::from(worker.start(&self.home, more)?.is_some());
        }
        Ok(ended)
    }

    /// How many tasks have an outcome, if a server answers.
    pub(super) fn outcomes(&self) -> Option<usize> {
        first(&self.servers, client::outcomes).ok()
    }
}

/// Runs so many tasks, which are in the folder `tasks`. With chaos, each fault happens at least once, and more of them as long as tasks are left.
pub(super) fn run(place: &mut Place, tasks: usize, chaos: Option<&mut Chance>) -> Result<Round> {
    place.start_workers(&["--most", "1"])?;
    let begun = Instant::now();
    place.home.fleet(&["submit", "tasks"], &place.servers)?;
    let mut round =
        Round { verdict: Verdict::default(), elapsed: Duration::ZERO, faults: BTreeMap::new(), restarts: 0 };
    let bound = BOUND + TASK_BOUND * u32::try_from(tasks).unwrap_or(u32::MAX);
    match chaos {
        None => wait(place, tasks, (begun, bound))?,
        Some(chance) => {
            misbehave(place, &mut round, (tasks, begun, bound), chance)?;
            wait(place, tasks, (begun, bound))?;
        }
    }
    round.elapsed = begun.elapsed();
    let (home, servers) = (&place.home, &place.servers);
    home.fleet(&["results", "--output", "out"], servers)?;
    round.verdict = judge(&home.ledger(), &home.folder.join("out"), tasks);
    Ok(round)
}

/// Waits until all tasks have an outcome.
fn wait(place: &mut Place, tasks: usize, (begun, bound): (Instant, Duration)) -> Result<()> {
    while place.outcomes().unwrap_or_default() < tasks {
        if begun.elapsed() > bound {
            bail!("only {:?} of {tasks} tasks have an outcome after {bound:?}", place.outcomes());
        }
        place.start_workers(&["--most", "1"])?;
        pause(LOOK);
    }
    Ok(())
}

fn misbehave(
    place: &mut Place,
    round: &mut Round,
    (tasks, begun, bound): (usize, Instant, Duration),
    chance: &mut Chance,
) -> Result<()> {
    let (mut is_first, mut ended) = (true, 0);
    while is_first || ended < tasks {
        for fault in chaos::deck(chance) {
            if !is_first && ended >= tasks {
                break;
            }
            if begun.elapsed() > bound {
                return Ok(());
            }
            let Place { home, servers, workers } = place;
            let hit = chaos::happen(fault, chance, (home, workers), servers)
                .with_context(|| format!("while: {fault}"))?;
            round.restarts += place.start_workers(&["--most", "1"])?;
            ended = place.outcomes().unwrap_or(ended);
            let Some(whom) = hit else { continue };
            *round.faults.entry(fault).or_default() += 1;
            let at = console::duration(begun.elapsed());
            console::progress(&format!("  {at}: {ended} of {tasks}; {fault} ({whom})"));
        }
        is_first = false;
    }
    Ok(())
}

/// Keeps what a round left, without its stores.
pub(super) fn keep(folder: &Path, kept: &Path) -> Result<()> {
    fs::remove_dir_all(kept).ok();
    fs::create_dir_all(kept)?;
    for entry in fs::read_dir(folder)?.filter_map(Result::ok) {
        let name = entry.file_name();
        if entry.file_type().is_ok_and(|kind| kind.is_file()) || name == "out" || name == "tasks" {
            Command::new("cp").arg("-r").arg(entry.path()).arg(kept).status().context("run cp")?;
        }
    }
    Ok(())
}
