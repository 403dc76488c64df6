//! `cargo xtask bench machines`: the guide of fleets, followed literally on three "machines".
//!
//! The machines are network namespaces with names of their own for each run. Their links end in a fourth one that stands for the switch,
//! so nothing of this machine's own network is changed.

mod guide;
mod network;
mod tasks;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, ExitCode},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde_json::Value;

use self::{guide::Guide, network::Network};
use crate::pace::pause;
use xtask::{
    console,
    product::{self, Build},
    workspace,
};

/// Options of `cargo xtask bench machines`.
#[derive(Args)]
pub(crate) struct MachinesArguments {
    /// How many tasks.
    #[arg(long, default_value_t = 8)]
    tasks: usize,
    /// Cut no link.
    #[arg(long)]
    whole: bool,
    /// Use this binary instead of building one.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// Far more than anything here takes.
const BOUND: Duration = Duration::from_secs(600);
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(500);
/// The machine whose link is cut.
const CUT: usize = 2;

/// Runs the benchmark.
pub(crate) fn run(arguments: &MachinesArguments) -> Result<ExitCode> {
    if let Some(why) = Network::cannot() {
        console::result(&format!("skipped: {why}"));
        return Ok(ExitCode::SUCCESS);
    }
    let folder = tempfile::Builder::new().prefix("deskhand-machines-").tempdir()?;
    let guide = Guide::read(&workspace::root().join("docs/guides/fleet.md"))?;
    let binary = product::executable(arguments.binary.as_deref(), Build::Tests)?;
    let programs = folder.path().join("programs");
    fs::create_dir(&programs)?;
    std::os::unix::fs::symlink(&binary, programs.join("deskhand"))?;
    let network = Network::new(programs)?;
    let lab = Lab::start(folder.path(), &guide, network)?;
    tasks::write(&lab.home(1), arguments.tasks)?;
    console::progress(&format!("machines: {} tasks, as the guide submits them", arguments.tasks));
    lab.say(1, &guide.submit)?;
    let cut = if arguments.whole { None } else { Some(lab.cut_while_it_works()?) };
    lab.until_all_ended(arguments.tasks)?;
    if cut.is_some() {
        lab.network.set_link(CUT, true)?;
    }
    // The guide watches, and fetches the results.
    lab.say(1, &guide.watch)?;
    lab.say(1, &guide.results)?;
    let verdict = tasks::judge(&lab.home(1).join("out"), arguments.tasks)?;
    for line in &verdict.lines {
        console::result(line);
    }
    if let Some(task) = cut {
        let by = verdict.workers.get(&task).map_or("nobody", String::as_str);
        console::result(&format!("{task} was with lab-{CUT} when its link was cut; {by} ended it"));
    }
    let all = verdict.once == arguments.tasks;
    console::result(&format!("{} of {} tasks were done exactly once", verdict.once, arguments.tasks));
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The machines with what runs on them.
struct Lab<'a> {
    folder: &'a Path,
    network: Network,
    running: Vec<Child>,
}

impl<'a> Lab<'a> {
    /// Starts the server on the first machine and a worker on each, with the commands of the guide.
    fn start(folder: &'a Path, guide: &Guide, network: Network) -> Result<Self> {
        let mut lab = Self { folder, network, running: Vec::new() };
        for machine in 1..=network::MACHINES {
            tasks::configure(&lab.home(machine))?;
        }
        let store = folder.join("nats");
        let server = guide.server.replace(guide::STORE, &store.display().to_string());
        lab.begin(1, &server)?;
        for machine in 1..=network::MACHINES {
            lab.begin(machine, &guide.worker)?;
        }
        let begun = Instant::now();
        while lab.status().is_err() {
            ensure!(begun.elapsed() < BOUND, "the server does not answer: {}", lab.logs());
            pause(LOOK);
        }
        Ok(lab)
    }

    /// The home folder on a machine.
    fn home(&self, machine: usize) -> std::path::PathBuf {
        self.folder.join(format!("lab-{machine}"))
    }

    fn begin(&mut self, machine: usize, command: &str) -> Result<()> {
        console::progress(&format!("machines: lab-{machine}$ {command}"));
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.folder.join(format!("lab-{machine}.log")))?;
        let mut prepared = self.network.command(machine, &self.home(machine), command);
        let child = prepared.stdout(log.try_clone()?).stderr(log).spawn().context("begin a command")?;
        self.running.push(child);
        Ok(())
    }

    /// Runs a command of the guide on a machine to its end.
    fn say(&self, machine: usize, command: &str) -> Result<String> {
        console::progress(&format!("machines: lab-{machine}$ {command}"));
        let mut prepared = self.network.command(machine, &self.home(machine), command);
        let output = prepared.output().context("run a command")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{command}` failed: {text}{errors}{}", self.logs());
        Ok(text)
    }

    /// The tasks as the fleet shows them.
    fn status(&self) -> Result<Vec<Value>> {
        let mut command = self.network.command(1, &self.home(1), "deskhand fleet status --json");
        let text = workspace::stdout(&mut command)?;
        let status: Value = serde_json::from_str(text.trim()).context("read the status")?;
        Ok(status.get("tasks").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    /// Cuts the link of a machine as soon as it has a task. Returns the task.
    fn cut_while_it_works(&self) -> Result<String> {
        let begun = Instant::now();
        let worker = format!("lab-{CUT}-");
        loop {
            // A busy server may be late with an answer.
            let tasks = self.status().unwrap_or_default();
            let held = tasks.iter().find(|task| {
                task.get("worker").and_then(Value::as_str).is_some_and(|holder| holder.starts_with(&worker))
                    && task.get("state").and_then(Value::as_str) == Some("held")
            });
            if let Some(id) = held.and_then(|task| task.get("id")?.as_str()) {
                self.network.set_link(CUT, false)?;
                console::progress(&format!("machines: the link of lab-{CUT} is cut while it has {id}"));
                return Ok(id.to_owned());
            }
            ensure!(begun.elapsed() < BOUND, "lab-{CUT} was given no task: {}", self.logs());
        }
    }

    fn until_all_ended(&self, count: usize) -> Result<()> {
        let begun = Instant::now();
        loop {
            // A busy server may be late with an answer.
            let tasks = self.status().unwrap_or_default();
            let ended =
                tasks.iter().filter(|task| task.get("state").and_then(Value::as_str) == Some("ended"));
            if ended.count() == count {
                return Ok(());
            }
            if begun.elapsed() > BOUND {
                bail!("not all tasks ended: {tasks:?} {}", self.logs());
            }
            pause(LOOK);
        }
    }

    /// What was written on the machines.
    fn logs(&self) -> String {
        let all = (1..=network::MACHINES)
            .filter_map(|machine| fs::read_to_string(self.folder.join(format!("lab-{machine}.log"))).ok());
        all.collect()
    }
}

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        // Workers first: the server is the first that was started.
        while let Some(mut child) = self.running.pop() {
            network::end(&mut child);
        }
    }
}
