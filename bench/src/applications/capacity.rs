//! `cargo xtask bench capacity`: memory and time of a desktop with an application, as the kernel counts them.
//!
//! Memory is the proportional share of all processes of the desktop (`/proc/PID/smaps_rollup`): what several of them use counts once.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::json;

use super::{client::Client, load, today};
use crate::pace::pause;
use xtask::{console, workspace};

/// The page with the table.
const PAGE: &str = "docs/guides/fleet-capacity.md";
/// The table is between these lines.
const BEGIN: &str = "<!-- measured -->";
const END: &str = "<!-- end -->";
/// How long an application may take until it has settled: it is what a second of it takes less than this of a processor.
const SETTLES_MAX: Duration = Duration::from_secs(60);
const SETTLED_SHARE: f64 = 0.05;
/// How long it is looked what it takes while nothing is done.
const IDLE: Duration = Duration::from_secs(30);
const SECOND: Duration = Duration::from_secs(1);
/// What the kernel counts times in, as programs see it.
const TICKS_A_SECOND: f64 = 100.0;

/// What a person calls the applications, with a program of theirs. Without a name: the desktop alone.
const APPLICATIONS: &[(&str, &str)] = &[
    ("", "Xvfb"),
    ("XTerm", "xterm"),
    ("Mousepad", "mousepad"),
    ("GNOME Text Editor", "gnome-text-editor"),
    ("Thunar", "thunar"),
    ("Evince", "evince"),
    ("Gnumeric", "gnumeric"),
    ("LibreOffice Writer", "soffice"),
    ("LibreOffice Calc", "soffice"),
    ("GIMP", "gimp"),
    ("Kate", "kate"),
    ("Okular", "okular"),
    ("KeePassXC", "keepassxc"),
    ("Freeplane", "freeplane"),
    ("Chromium", "chromium"),
    ("Firefox", "firefox-esr"),
];

/// Options of `cargo xtask bench capacity`.
#[derive(Args)]
pub(crate) struct CapacityArguments {
    /// Measure only this application, by a part of its name; repeatable. The page is left as it is.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

/// What a desktop took.
struct Taken {
    name: &'static str,
    /// Of its own process, in KiB.
    agent_kib: u64,
    /// Of the desktop and its application, in KiB.
    desktop_kib: u64,
    processes: usize,
    /// Until it had settled, in seconds: by the clock, and of processors.
    start: (f64, f64),
    /// Of processors, in seconds a minute, while nothing is done.
    idle: f64,
}

/// Runs the benchmark.
pub(crate) fn run(arguments: &CapacityArguments) -> Result<ExitCode> {
    let binary = workspace::root().join("target/debug/deskhand");
    let mut all = Vec::new();
    for (name, program) in APPLICATIONS {
        let is_chosen = |part: &String| name.to_lowercase().contains(&part.to_lowercase());
        if !arguments.only.is_empty() && !arguments.only.iter().any(is_chosen) {
            continue;
        }
        if !workspace::is_program(program) {
            console::result(&format!("{name}: not installed"));
            continue;
        }
        match measure(&binary, name) {
            Ok(taken) => {
                console::result(&line(&taken));
                all.push(taken);
            }
            Err(error) => console::problem(&format!("{name}: {error:#}")),
        }
    }
    if arguments.only.is_empty() {
        write(&all)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(binary: &Path, name: &'static str) -> Result<Taken> {
    let home = tempfile::tempdir().context("make a home")?;
    let begun = Instant::now();
    let mut client = Client::start(binary, home.path())?;
    client.call("start_desktop", &json!({ "task": format!("Work in {name}") }))?;
    if !name.is_empty() {
        let opened = client.call("open", &json!({ "application": name }))?;
        anyhow::ensure!(!opened.failed, "{}", opened.text);
    }
    let agent = client.id();
    let until_settled = settled(agent, home.path(), begun)?;
    let processes = tree(agent, home.path());
    let before = seconds(&processes)?;
    pause(IDLE);
    let idle = (seconds(&tree(agent, home.path()))? - before).max(0.0) * 60.0 / IDLE.as_secs_f64();
    let processes = tree(agent, home.path());
    let of_others = processes.iter().filter(|id| **id != agent);
    Ok(Taken {
        name,
        agent_kib: memory_kib(agent),
        desktop_kib: of_others.map(|id| memory_kib(*id)).sum(),
        processes: processes.len().saturating_sub(1),
        start: (until_settled, before),
        idle,
    })
}

/// Waits until the desktop does little any more. Returns for how long it has run.
fn settled(agent: u32, home: &Path, begun: Instant) -> Result<f64> {
    let waits = Instant::now();
    let mut before = seconds(&tree(agent, home))?;
    while waits.elapsed() < SETTLES_MAX {
        pause(SECOND);
        let now = seconds(&tree(agent, home))?;
        if now - before < SETTLED_SHARE {
            break;
        }
        before = now;
    }
    Ok(begun.elapsed().as_secs_f64())
}

/// The processes of a desktop: those that descend from its agent, and those with its home.
fn tree(agent: u32, home: &Path) -> BTreeSet<u32> {
    let home = format!("HOME={}", home.display());
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok) {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Some(parent) = stat(id).and_then(|fields| fields.first()?.parse::<u32>().ok()) else { continue };
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let is_at_home = environment.split(|byte| *byte == 0).any(|pair| pair == home.as_bytes());
        all.push((id, parent, is_at_home));
    }
    let mut found = BTreeSet::from([agent]);
    loop {
        let before = found.len();
        found.extend(
            all.iter()
                .filter(|(_, parent, at_home)| *at_home || found.contains(parent))
                .map(|one| one.0)
                .collect::<Vec<_>>(),
        );
        if found.len() == before {
            return found;
        }
    }
}

/// The fields of a process after its state, of which the first is its parent.
fn stat(id: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(") ")?;
    Some(rest.split_whitespace().skip(1).map(str::to_owned).collect())
}

/// The time of processors that processes took, with that of their children that have ended, in seconds.
fn seconds(processes: &BTreeSet<u32>) -> Result<f64> {
    let ticks: u64 = processes
        .iter()
        .filter_map(|id| {
            let fields = stat(*id)?;
            // utime, stime, cutime and cstime.
            fields
                .get(10..14)
                .map(|times| times.iter().filter_map(|time| time.parse::<u64>().ok()).sum::<u64>())
        })
        .sum();
    let ticks = u32::try_from(ticks).context("count ticks")?;
    Ok(f64::from(ticks) / TICKS_A_SECOND)
}

/// The proportional share of a process, in KiB.
fn memory_kib(id: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse().ok()).unwrap_or(0)
}

fn line(taken: &Taken) -> String {
    let name = if taken.name.is_empty() { "no application" } else { taken.name };
    format!(
        "| {name} | {} | {} | {:.1} | {:.1} | {:.1} |",
        (taken.desktop_kib + taken.agent_kib) / 1024,
        taken.processes,
        taken.start.1,
        taken.start.0,
        taken.idle,
    )
}

/// Writes the table into the page.
fn write(all: &[Taken]) -> Result<()> {
    let file = workspace::root().join(PAGE);
    let text = fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
    let (before, _) = text.split_once(BEGIN).with_context(|| format!("{PAGE} has no `{BEGIN}`"))?;
    let (_, after) = text.split_once(END).with_context(|| format!("{PAGE} has no `{END}`"))?;
    let own = all.iter().map(|taken| taken.agent_kib).sum::<u64>() / all.len().max(1) as u64 / 1024;
    let mut table = format!(
        "Measured on {}, with a mean load of {}. Deskhand's own process is {own} MB of each row.\n\n\
         | on the desktop | memory, MB | processes | CPU until it has settled, s | until then, s | CPU idle, s a minute |\n\
         | --- | --- | --- | --- | --- | --- |\n",
        today()?,
        load()?,
    );
    for taken in all {
        writeln!(table, "{}", line(taken))?;
    }
    fs::write(&file, format!("{before}{BEGIN}\n\n{table}\n{END}{after}"))?;
    console::result(&format!("wrote {PAGE}"));
    Ok(())
}
