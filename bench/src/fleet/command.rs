//! The cases, and what they come to.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::{
    chaos::Fault,
    growth,
    judge::Verdict,
    model,
    round::{self, Place},
    servers, speed,
};
use crate::{chance::Chance, endpoint};
use xtask::{
    console,
    product::{self, Build},
    workspace,
};

/// The programs of a session.
const PROGRAMS: &[&str] = &["Xvfb", "openbox", "dbus-daemon", "mousepad", "python3"];
/// The least throughput of a fleet, as a part of that of a batch.
const RATIO_MIN: f64 = 0.9;

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Case {
    Calm,
    Chaos,
    Speed,
    Growth,
}

#[derive(Args)]
pub(crate) struct FleetArguments {
    /// Tasks of a round, and of the comparison with a batch.
    #[arg(long, value_name = "N", default_value_t = 300)]
    tasks: usize,
    /// Rounds of chaos.
    #[arg(long, value_name = "N", default_value_t = 10)]
    rounds: u64,
    /// Tasks in the long queue.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    queued: usize,
    /// Only this part; repeatable.
    #[arg(long, value_name = "CASE")]
    only: Vec<Case>,
    /// Seed of the first round; each further one has the next.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The `deskhand` to run, instead of one built for release.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Write the results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// What is mounted here goes with this process.
    #[arg(long, hide = true)]
    is_apart: bool,
}

/// Runs the cases; fails if anything was lost or done twice, or if the fleet is slow.
pub(crate) fn run(arguments: &FleetArguments) -> Result<ExitCode> {
    for program in PROGRAMS {
        ensure!(workspace::is_program(program), "{program} is not installed; run `cargo xtask setup`");
    }
    ensure!(servers::program().is_file(), "there is no nats-server; run `cargo xtask setup`");
    if !arguments.is_apart && rustix::process::geteuid().is_root() {
        return apart();
    }
    let binary = product::executable(arguments.binary.as_deref(), Build::Release)?;
    let bench =
        Bench { arguments, binary, endpoint: endpoint::start(model::reply)?, folder: tempfile::tempdir()? };
    let mut sum = Verdict::default();
    let mut figures = json!({ "rounds_of_chaos": 0 });
    if bench.has(Case::Calm) {
        let (verdict, figure) = bench.round(0)?;
        sum.add(&verdict);
        set(&mut figures, "calm", figure);
    }
    let mut rounds = Vec::new();
    if bench.has(Case::Chaos) {
        for round in 1..=arguments.rounds {
            let (verdict, figure) = bench.round(round)?;
            sum.add(&verdict);
            rounds.push(figure);
        }
        set(&mut figures, "rounds_of_chaos", rounds.len().into());
        set(&mut figures, "rounds", rounds.into());
    }
    let mut is_fast = true;
    let with = (bench.binary.as_path(), bench.endpoint.as_str());
    let mut chance = Chance::new(arguments.seed);
    if bench.has(Case::Speed) {
        console::progress("the same tasks by a batch and by the fleet …");
        let measured = speed::measure(bench.folder.path(), with, arguments.tasks, &mut chance)?;
        is_fast = measured.throughput_ratio >= RATIO_MIN;
        set(&mut figures, "throughput_ratio", measured.throughput_ratio.into());
        set(&mut figures, "speed", serde_json::to_value(&measured)?);
    }
    if bench.has(Case::Growth) {
        console::progress("a long queue …");
        let grown =
            growth::measure(&bench.folder.path().join("growth"), with, arguments.queued, &mut chance)?;
        set(&mut figures, "growth", serde_json::to_value(&grown)?);
    }
    add_counts(&mut figures, &sum)?;
    console::result(&serde_json::to_string_pretty(&figures)?);
    console::write_figures(arguments.json.as_deref(), &figures)?;
    Ok(if sum.is_good() && is_fast { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn set(figures: &mut Value, name: &str, value: Value) {
    if let Some(figures) = figures.as_object_mut() {
        figures.insert(name.to_owned(), value);
    }
}

fn add_counts(figures: &mut Value, sum: &Verdict) -> Result<()> {
    let sum = serde_json::to_value(sum)?;
    for (name, value) in sum.as_object().into_iter().flatten() {
        set(figures, name, value.clone());
    }
    Ok(())
}

/// Runs this command again in a mount namespace of its own, so that no disk stays behind.
fn apart() -> Result<ExitCode> {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "--"]).arg(std::env::current_exe()?);
    let status =
        command.args(std::env::args_os().skip(1)).arg("--is-apart").status().context("run unshare")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Bench<'a> {
    arguments: &'a FleetArguments,
    binary: PathBuf,
    endpoint: String,
    folder: tempfile::TempDir,
}

impl Bench<'_> {
    fn has(&self, case: Case) -> bool {
        self.arguments.only.is_empty() || self.arguments.only.contains(&case)
    }

    /// A round: the one without chaos is 0.
    fn round(&self, number: u64) -> Result<(Verdict, Value)> {
        let (tasks, seed) = (self.arguments.tasks, self.arguments.seed + number);
        let mut chance = Chance::new(seed);
        let folder = self.folder.path().join(format!("round{number}"));
        console::progress(&format!(
            "round {number} of {}: seed {seed}, {tasks} tasks …",
            self.arguments.rounds
        ));
        let place = Place::create(&folder, (&self.binary, &self.endpoint), &mut chance);
        let run = place.and_then(|mut place| {
            place.home.write_tasks("tasks", tasks, true)?;
            let run = round::run(&mut place, tasks, (number > 0).then_some(&mut chance));
            if !run.as_ref().is_ok_and(|round| round.verdict.is_good()) {
                let kept = workspace::root().join(format!("target/fleet/{seed}"));
                round::keep(&folder, &kept)?;
                console::progress(&format!("  kept in {}", kept.display()));
            }
            run
        })?;
        tell(&run);
        let faults: BTreeMap<String, usize> =
            run.faults.iter().map(|(fault, count): (&Fault, &usize)| (fault.to_string(), *count)).collect();
        let mut figure = json!({
            "seed": seed, "elapsed_s": run.elapsed.as_secs_f64(), "restarts": run.restarts, "faults": faults,
        });
        add_counts(&mut figure, &run.verdict)?;
        drop_stores(&folder);
        Ok((run.verdict, figure))
    }
}

/// The disks are gone with the servers; what is left of a round is not needed.
fn drop_stores(folder: &Path) {
    fs::remove_dir_all(folder).ok();
}

fn tell(round: &round::Round) {
    let verdict = &round.verdict;
    console::progress(&format!(
        "  {} of {} accounted for in {}, {} effects twice, {} of {} lines lost and {} doubled; {} faults; {} tasks went to another \
         worker, {} were lost in the middle of a command ({} of these commands were done and not repeated); {} wait for a person \
         ({} of these are done)",
        verdict.accounted,
        verdict.tasks,
        console::duration(round.elapsed),
        verdict.effects_twice,
        verdict.lines_lost,
        verdict.lines,
        verdict.lines_doubled,
        round.faults.values().sum::<usize>(),
        verdict.moved,
        verdict.lost_acting,
        verdict.found_done,
        verdict.person,
        verdict.person_done,
    ));
    for problem in &verdict.problems {
        console::progress(&format!("  {problem}"));
    }
}
