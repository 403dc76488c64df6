//! Runs the tasks and the drifts.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use super::{
    desk::PYTHON, drift, drifts, figures::Figures, home::Home, posts::Posts, tasks::TASKS, trial::Trying,
};
use xtask::{
    console,
    product::{self, Build},
    workspace,
};

/// Options of `cargo xtask bench learning`.
#[derive(Args)]
pub(crate) struct LearningArguments {
    /// Do each task ten times instead of three.
    #[arg(long)]
    long: bool,
    /// Only this task, or drifts whose kind or name contains this; repeatable.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Use this binary instead of building one.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The runs of each task, the first one included.
const RUNS: u32 = 3;
const RUNS_LONG: u32 = 10;

/// The programs of the tasks.
const PROGRAMS: &[&str] =
    &["timeout", "Xvfb", "openbox", "dbus-daemon", "mousepad", "soffice", "chromium", PYTHON];

/// Runs the benchmark; fails if it proves nothing.
pub(crate) fn run(arguments: &LearningArguments) -> Result<ExitCode> {
    for program in PROGRAMS {
        let is_there = workspace::is_program(program) || Path::new(program).is_file();
        ensure!(is_there, "{program} is not installed; run `cargo xtask setup`");
    }
    let binary = product::executable(arguments.binary.as_deref(), Build::Release)?;
    let folder = workspace::root().join("target/learning");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("empty {}", folder.display()))?;
    }
    let before = load();
    let mut figures = Figures::default();
    tasks(arguments, (&folder, &binary), &mut figures)?;
    drifts(arguments, (&folder, &binary), &mut figures)?;
    figures.load = [before, load()];
    ensure!(!(figures.trials.is_empty() && figures.drifts.is_empty()), "--only names no task and no drift");
    figures.lines().iter().for_each(|line| console::result(line));
    console::write_figures(arguments.json.as_deref(), &figures.to_json())?;
    let shortfalls = figures.shortfalls();
    shortfalls.iter().for_each(|shortfall| console::problem(shortfall));
    if !shortfalls.is_empty() {
        console::problem(&format!("the sessions are in {}", folder.display()));
    }
    Ok(if shortfalls.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn tasks(
    arguments: &LearningArguments,
    (folder, binary): (&Path, &Path),
    figures: &mut Figures,
) -> Result<()> {
    let posts = Posts::start()?;
    let runs = if arguments.long { RUNS_LONG } else { RUNS };
    for task in TASKS {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|name| name == task.name) {
            continue;
        }
        console::progress(&format!("{}: {runs} runs in {} …", task.name, task.applications));
        let home = Home::create(folder.join(task.name), binary)?;
        figures.trials.push(Trying { task, home: &home, posts: &posts }.run(runs));
    }
    Ok(())
}

fn drifts(
    arguments: &LearningArguments,
    (folder, binary): (&Path, &Path),
    figures: &mut Figures,
) -> Result<()> {
    let is_wanted = |drift: &&drifts::Drift| {
        let kind = drift.kind.to_string();
        arguments.only.is_empty()
            || arguments.only.iter().any(|name| *name == kind || drift.name.contains(name.as_str()))
    };
    let wanted: Vec<&drifts::Drift> = drifts::DRIFTS.iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    console::progress(&format!("{} drifts of the Parts Desk …", wanted.len()));
    let home = Home::create(folder.join("drifts"), binary)?;
    drift::learn(&home)?;
    for drift in wanted {
        let drifted = drift::run(&home, drift).with_context(|| format!("run the drift {:?}", drift.name))?;
        figures.drifts.push(drifted);
    }
    Ok(())
}

/// The load of the machine over the last minute.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|load| load.parse().ok()).unwrap_or_default()
}
