//! A hundred thousand tasks in the queue.

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde::Serialize;
use serde_json::json;

use super::{client, crew::Kind, model::APPENDS, round::Place, servers::first};
use crate::{chance::Chance, pace::pause};
use xtask::console;

/// How long anything may take.
const BOUND: Duration = Duration::from_secs(900);
const LOOK: Duration = Duration::from_millis(100);
/// For how long the processor time of a worker without work is taken.
const IDLE: Duration = Duration::from_secs(10);
/// The most tasks of a file.
const FILE_TASKS: usize = 10_000;
/// What a leader at rest takes of a processor at most, as a share.
const AT_REST: f64 = 0.05;
/// Ticks of processor time in a second.
const TICKS: f64 = 100.0;

/// The fleet with so many tasks in the queue that nobody can take.
#[derive(Debug, Serialize)]
pub(super) struct Queued {
    pub(super) tasks: usize,
    submitted_per_s: f64,
    /// From the first task sent until all are in the queue.
    queued_per_s: f64,
    /// From the first task sent until the leader has noted of each that it is queued, and is at rest.
    noted_s: f64,
    /// From sending one more task that a worker can do to its outcome.
    pub(super) one_task_s: f64,
    pub(super) status_s: f64,
    /// Memory of the worker that leads, without its program.
    pub(super) leader_kib: u64,
    /// What a worker without work takes of a processor, in percent.
    pub(super) leader_idle_percent: f64,
}

/// How many tasks are in the queue at each step but the last.
const STEPS: [usize; 3] = [1_000, 10_000, 50_000];

/// Measures the fleet with more and more tasks in its queue, with so many in the end.
pub(super) fn measure(
    folder: &Path,
    (binary, endpoint): (&Path, &str),
    most: usize,
    chance: &mut Chance,
) -> Result<Vec<Queued>> {
    let mut place = Place::create(folder, (binary, endpoint), chance)?;
    place.workers.truncate(1);
    place.start_workers(&["--most", "1"])?;
    // Memory that a session leaves behind does not count as growth.
    one_task(&place, 0)?;
    let (mut all, mut before) = (Vec::new(), 0);
    let steps = STEPS.into_iter().filter(|size| *size < most).chain([most]);
    for (step, size) in (1..).zip(steps) {
        all.push(one(&mut place, (before, size), step)?);
        before = size;
    }
    Ok(all)
}

fn one(place: &mut Place, (before, size): (usize, usize), step: usize) -> Result<Queued> {
    let home = &place.home;
    let numbers: Vec<usize> = (before..size).collect();
    let mut files = Vec::new();
    for (part, numbers) in numbers.chunks(FILE_TASKS).enumerate() {
        let mut tasks = String::new();
        for number in numbers {
            let task =
                json!({"id": format!("q{number}"), "request": "wait", "needs": {"labels": ["nowhere"]}});
            let _ = writeln!(tasks, "{task}");
        }
        let name = format!("queued{step}-{part}.jsonl");
        fs::write(home.folder.join(&name), tasks)?;
        files.push(name);
    }
    let begun = Instant::now();
    for name in &files {
        home.fleet(&["submit", name], &place.servers)?;
    }
    let submitted = begun.elapsed();
    until(|| {
        let queued = first(&place.servers, |port| client::messages(port, "queue")).unwrap_or_default();
        queued as usize >= size
    })?;
    let queued = begun.elapsed();
    console::progress(&format!("  {size} in the queue after {}", console::duration(queued)));
    let worker = place.workers.first().context("no worker")?;
    let pid = worker.pid().context("the worker does not run")?.as_raw_nonzero();
    let noted_s = until_at_rest(pid.get(), begun)?;
    let ticks = ticks(pid.get())?;
    pause(IDLE);
    let idle = self::ticks(pid.get())? - ticks;
    let leader_kib = memory_kib(pid.get())?;
    let begun = Instant::now();
    home.fleet(&["status", "--json"], &place.servers)?;
    let status = begun.elapsed();
    let one_task_s = one_task(place, step)?.as_secs_f64();
    let per_s = |time: Duration| (size - before) as f64 / time.as_secs_f64();
    Ok(Queued {
        tasks: size,
        submitted_per_s: per_s(submitted),
        queued_per_s: per_s(queued),
        noted_s,
        one_task_s,
        status_s: status.as_secs_f64(),
        leader_kib,
        leader_idle_percent: idle / TICKS / IDLE.as_secs_f64() * 100.0,
    })
}

/// How long a task takes that a worker can do, after so many others.
fn one_task(place: &Place, others: usize) -> Result<Duration> {
    let (home, id) = (&place.home, Kind::Ledger.id(others));
    let task = json!({"id": id, "request": format!("{APPENDS}{id}")});
    fs::write(home.folder.join("one.jsonl"), task.to_string())?;
    let begun = Instant::now();
    home.fleet(&["submit", "one.jsonl"], &place.servers)?;
    until(|| place.outcomes().unwrap_or_default() > others)?;
    Ok(begun.elapsed())
}

fn until(is_so: impl Fn() -> bool) -> Result<()> {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > BOUND {
            bail!("it takes too long");
        }
        pause(LOOK);
    }
    Ok(())
}

/// Waits until a process takes next to nothing of a processor. Returns the seconds since `begun`.
fn until_at_rest(pid: i32, begun: Instant) -> Result<f64> {
    const SECOND: Duration = Duration::from_secs(1);
    let mut before = ticks(pid)?;
    loop {
        pause(SECOND);
        let now = ticks(pid)?;
        if now - before <= TICKS * AT_REST {
            return Ok(begun.elapsed().as_secs_f64());
        }
        before = now;
        ensure!(begun.elapsed() < BOUND, "the leader is still busy after {BOUND:?}");
    }
}

/// The processor time of a process, in ticks.
fn ticks(pid: i32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, fields) = stat.rsplit_once(')').context("read the processor time")?;
    let fields = fields.split_whitespace().skip(11).take(2);
    Ok(fields.filter_map(|field| field.parse::<f64>().ok()).sum())
}

/// What a process has in memory of its own: without its program and other files.
fn memory_kib(pid: i32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).context("read the memory")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
