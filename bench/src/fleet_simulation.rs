//! `cargo xtask bench fleet-simulation`: a fleet of thousands of workers on a virtual clock, with everything that can go wrong.

use std::{
    fs,
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use xtask::{console, workspace};

#[derive(Args)]
pub(crate) struct FleetSimulationArguments {
    /// Number of workers. Each does one task at a time.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    workers: u32,
    /// Number of tasks; can be repeated for several runs.
    #[arg(long, value_name = "N", default_values_t = [10_000, 100_000, 1_000_000])]
    tasks: Vec<u64>,
    /// Seed of a run; equal seeds give equal runs. Can be repeated.
    #[arg(long, value_name = "SEED", default_values_t = [1])]
    seed: Vec<u64>,
    /// How much of what the workers can do comes; 0 for all tasks at once.
    #[arg(long, value_name = "PART", default_value_t = 0.8)]
    load: f64,
    /// What goes wrong, as JSON: the `faults` of an earlier run's `--json`. Without it, everything.
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// Plant a bug: servers let everybody write journals and leases. The runs must find it.
    #[arg(long)]
    ignore_fences: bool,
    /// Simulate with a build without optimisations, which takes less time to build.
    #[arg(long)]
    debug: bool,
    /// The simulator to run, instead of one that is built.
    #[arg(long, value_name = "FILE")]
    simulator: Option<PathBuf>,
    /// Write the results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A run, with what of its report the table shows.
#[derive(Debug, Deserialize)]
struct Run {
    took_s: f64,
    memory_mib: Option<u64>,
    is_sound: bool,
    report: Report,
}

#[derive(Debug, Deserialize)]
struct Report {
    setting: Setting,
    virtual_s: f64,
    throughput: f64,
    ideal: f64,
    waits_s: Spread,
    accounted: u64,
    effects_twice: u64,
    effects_late: u64,
    effects_missing: u64,
    too_early: u64,
    over_limit: u64,
    lines_lost: u64,
    lines_doubled: u64,
    taken_over: u64,
    requests: Map<String, Value>,
    befell: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Setting {
    seed: u64,
    tasks: u64,
}

#[derive(Debug, Deserialize)]
struct Spread {
    median: f64,
    p99: f64,
}

#[derive(Debug, Serialize)]
struct Figures {
    runs: Vec<Value>,
}

/// Runs the simulations, prints a table, and fails if something was lost or done twice.
pub(crate) fn run(arguments: &FleetSimulationArguments) -> Result<ExitCode> {
    let mut figures = Figures { runs: Vec::new() };
    let mut sound = 0;
    console::progress("building …");
    console::result(HEADER);
    for tasks in &arguments.tasks {
        for seed in &arguments.seed {
            let value = simulate(arguments, &setting(arguments, *tasks, *seed)?)?;
            let run = Run::deserialize(&value).context("parse the results")?;
            console::result(&row(&run));
            sound += usize::from(run.is_sound);
            figures.runs.push(value);
        }
    }
    console::write_figures(arguments.json.as_deref(), &figures)?;
    let is_as_expected = if arguments.ignore_fences { sound == 0 } else { sound == figures.runs.len() };
    let (found, all) = (figures.runs.len() - sound, figures.runs.len());
    console::result(&format!("something was lost or done twice in {found} of {all} runs"));
    Ok(if is_as_expected { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn setting(arguments: &FleetSimulationArguments, tasks: u64, seed: u64) -> Result<Value> {
    let fences = if arguments.ignore_fences { "ignored" } else { "kept" };
    let mut setting = json!({
        "workers": arguments.workers,
        "tasks": tasks,
        "seed": seed,
        "load": arguments.load,
        "fences": fences,
    });
    if let Some(path) = &arguments.faults {
        let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        let faults: Value =
            serde_json::from_str(&text).with_context(|| format!("parse {}", path.display()))?;
        if let Some(all) = setting.as_object_mut() {
            all.insert("faults".to_owned(), faults);
        }
    }
    Ok(setting)
}

fn simulate(arguments: &FleetSimulationArguments, setting: &Value) -> Result<Value> {
    let mut command = match &arguments.simulator {
        Some(simulator) => Command::new(simulator),
        None => {
            let mut command = workspace::cargo();
            command.args(["run", "--quiet", "--package", "deskhand-fleet", "--example", "fleet_simulation"]);
            command.args((!arguments.debug).then_some("--release")).arg("--");
            command
        }
    };
    let output = command.arg(setting.to_string()).stderr(Stdio::inherit()).output();
    let output = output.context("start the simulation")?;
    if !output.status.success() {
        bail!("the simulation failed");
    }
    serde_json::from_slice(&output.stdout).context("parse the results")
}

const HEADER: &str = "    tasks   seed  accounted  twice  late  missing  early  over limit  lines lost  doubled  taken over  mishaps  \
                      virtual h  tasks / s  of ideal  wait median      99 %  requests / task   real time      MiB";

fn row(run: &Run) -> String {
    let report = &run.report;
    let sum = |counts: &Map<String, Value>| counts.values().filter_map(Value::as_u64).sum::<u64>();
    let tasks = report.setting.tasks;
    format!(
        "{:>9} {:>6} {:>10} {:>6} {:>5} {:>8} {:>6} {:>11} {:>11} {:>8} {:>11} {:>8} {:>10.2} {:>10.1} {:>9.3} {:>10.2} s {:>7.1} s \
         {:>16.1} {:>11} {:>8}",
        tasks,
        report.setting.seed,
        report.accounted,
        report.effects_twice,
        report.effects_late,
        report.effects_missing,
        report.too_early,
        report.over_limit,
        report.lines_lost,
        report.lines_doubled,
        report.taken_over,
        sum(&report.befell),
        report.virtual_s / 3_600.0,
        report.throughput,
        report.throughput / report.ideal,
        report.waits_s.median,
        report.waits_s.p99,
        sum(&report.requests) as f64 / tasks.max(1) as f64,
        console::duration(Duration::from_secs_f64(run.took_s)),
        run.memory_mib.unwrap_or_default(),
    )
}

#[cfg(test)]
#[path = "fleet_simulation_tests.rs"]
mod tests;
