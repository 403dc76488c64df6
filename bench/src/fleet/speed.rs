//! The same tasks by a fleet and by `deskhand batch`, in turns.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;

use super::{
    crew::{Home, WORKERS, json_lines},
    judge::{held_up, judge_ledger},
    round::{self, Place},
};
use crate::chance::Chance;
use xtask::console;

/// How often both take turns.
const TURNS: usize = 2;

/// How long both took.
#[derive(Debug, Serialize)]
pub(super) struct Speed {
    tasks: usize,
    fleet_s: f64,
    batch_s: f64,
    /// Tasks per time of the fleet to that of the batch.
    pub(super) throughput_ratio: f64,
    overhead_ms_per_task: f64,
    /// Until a command is carried out, from its line in the journal on.
    fleet_ms_per_command: f64,
    batch_ms_per_command: f64,
    lines_per_task: f64,
    overhead_ms_per_line: f64,
}

/// Measures it.
pub(super) fn measure(
    folder: &Path,
    (binary, endpoint): (&Path, &str),
    tasks: usize,
    chance: &mut Chance,
) -> Result<Speed> {
    let (mut fleet, mut batch) = (Duration::ZERO, Duration::ZERO);
    let (mut fleet_held, mut batch_held, mut lines) = ((0, 0), (0, 0), 0);
    for turn in 0..TURNS {
        let here = folder.join(format!("batch{turn}"));
        let (took, held) = one_batch(&Home::create(&here, binary, endpoint)?, tasks)?;
        batch += took;
        batch_held = (batch_held.0 + held.0, batch_held.1 + held.1);
        let here = folder.join(format!("fleet{turn}"));
        let mut place = Place::create(&here, (binary, endpoint), chance)?;
        place.home.write_tasks("tasks", tasks, false)?;
        let round = round::run(&mut place, tasks, None)?;
        ensure!(round.verdict.is_good(), "the fleet did not do its tasks: {:?}", round.verdict.problems);
        fleet += round.elapsed;
        fleet_held = (fleet_held.0 + round.verdict.held_up_ms, fleet_held.1 + round.verdict.commands);
        lines += round.verdict.lines;
        console::progress(&format!(
            "  {tasks} tasks: batch {}, fleet {}",
            console::duration(took),
            console::duration(round.elapsed)
        ));
    }
    let all = (tasks * TURNS) as f64;
    let mean = |(ms, count): (u64, u64)| ms as f64 / count.max(1) as f64;
    let overhead_ms = (fleet.as_secs_f64() - batch.as_secs_f64()) * 1_000.0 / all;
    Ok(Speed {
        tasks: tasks * TURNS,
        fleet_s: fleet.as_secs_f64(),
        batch_s: batch.as_secs_f64(),
        throughput_ratio: batch.as_secs_f64() / fleet.as_secs_f64(),
        overhead_ms_per_task: overhead_ms,
        fleet_ms_per_command: mean(fleet_held),
        batch_ms_per_command: mean(batch_held),
        lines_per_task: lines as f64 / all,
        overhead_ms_per_line: overhead_ms * all / lines.max(1) as f64,
    })
}

/// How long a batch takes, and how long its commands were held up.
fn one_batch(home: &Home, tasks: usize) -> Result<(Duration, (u64, u64))> {
    home.write_tasks("tasks", tasks, false)?;
    let parallel = WORKERS.to_string();
    let mut command = home.command(&["batch", "--trust", "tasks", "--parallel", &parallel]);
    let begun = Instant::now();
    let output = command.args(home.model()).output().context("run deskhand batch")?;
    let took = begun.elapsed();
    ensure!(output.status.success(), "deskhand batch: {}", String::from_utf8_lossy(&output.stderr));
    let problems = judge_ledger(&home.ledger(), tasks);
    ensure!(problems.is_empty(), "the batch did not do its tasks: {problems:?}");
    let mut held = (0, 0);
    for session in fs::read_dir(home.folder.join(".local/state/deskhand/sessions"))?.filter_map(Result::ok) {
        let (ms, commands) = held_up(&json_lines(&session.path().join("journal.jsonl")));
        held = (held.0 + ms, held.1 + commands);
    }
    Ok((took, held))
}
