//! `cargo xtask bench opening`: ten documents of ten types, each alone and all in one go.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde::Serialize;

use xtask::{
    console,
    product::{self, Build},
    workspace,
};

/// Names and contents of the documents. A folder has no content.
const DOCUMENTS: &[(&str, Option<&str>)] = &[
    ("notes.txt", Some("x")),
    ("doc.md", Some("x")),
    ("data.json", Some("{}")),
    ("run.py", Some("x")),
    ("style.css", Some("x")),
    ("page.html", Some("<p>x")),
    ("feed.xml", Some("<a/>")),
    ("drawing.svg", Some("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20\" height=\"20\"/>")),
    ("letter.rtf", Some("{\\rtf1 hello}")),
    ("papers", None),
];
/// The programs that open them.
const PROGRAMS: &[&str] = &["Xvfb", "openbox", "dbus-daemon", "mousepad", "chromium", "soffice"];

/// Options of `cargo xtask bench opening`.
#[derive(Args)]
pub(crate) struct OpeningArguments {
    /// Rounds. In each, every document is opened alone, and then all of them; the medians are compared.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Times of the command, from its start to its end; medians of the rounds.
#[derive(Debug, Serialize)]
struct Figures {
    alone: Vec<Alone>,
    together_s: f64,
    /// The time of all together over that of the slowest alone.
    ratio: f64,
    /// The part of all processors that worked while all were opened: at 1, no order of work would be faster.
    busy: f64,
}

#[derive(Debug, Serialize)]
struct Alone {
    document: &'static str,
    seconds: f64,
}

/// Runs the benchmark and prints its figures.
pub(crate) fn run(arguments: &OpeningArguments) -> Result<ExitCode> {
    for program in PROGRAMS {
        ensure!(workspace::is_program(program), "{program} is not installed; run `cargo xtask setup`");
    }
    let binary = product::built(Build::Release)?;
    let folder = tempfile::tempdir().context("make a folder")?;
    for (name, content) in DOCUMENTS {
        let path = folder.path().join(name);
        match content {
            Some(content) => fs::write(&path, content),
            None => fs::create_dir(&path),
        }
        .with_context(|| format!("write {}", path.display()))?;
    }
    let names: Vec<&'static str> = DOCUMENTS.iter().map(|(name, _)| *name).collect();
    let mut alone: Vec<Vec<f64>> = names.iter().map(|_| Vec::new()).collect();
    let (mut together, mut busy) = (Vec::new(), Vec::new());
    for round in 1..=arguments.rounds {
        console::progress(&format!("round {round} of {} …", arguments.rounds));
        for (name, times) in names.iter().zip(&mut alone) {
            times.push(open(&binary, folder.path(), std::slice::from_ref(name))?.0);
        }
        let (seconds, share) = open(&binary, folder.path(), &names)?;
        together.push(seconds);
        busy.push(share);
    }
    let alone = names.iter().zip(alone);
    let alone = alone.map(|(document, times)| Alone { document, seconds: median(times) }).collect();
    let figures = Figures::new(alone, median(together), median(busy));
    figures.print();
    console::write_figures(arguments.json.as_deref(), &figures)?;
    Ok(ExitCode::SUCCESS)
}

impl Figures {
    fn new(mut alone: Vec<Alone>, together_s: f64, busy: f64) -> Self {
        alone.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        let slowest = alone.first().map_or(f64::NAN, |slowest| slowest.seconds);
        Self { alone, together_s, ratio: together_s / slowest, busy }
    }

    fn print(&self) {
        for Alone { document, seconds } in &self.alone {
            console::result(&format!("{document:<12} {seconds:>6.2} s alone"));
        }
        console::result(&format!(
            "{} together  {:.2} s: {:.2} times the slowest alone; the processors were busy for {:.0} % of it",
            self.alone.len(),
            self.together_s,
            self.ratio,
            self.busy * 100.0
        ));
    }
}

/// Opens documents on a desktop of their own; the seconds that the command takes, and the share of processor time in use meanwhile.
fn open(binary: &Path, folder: &Path, documents: &[&str]) -> Result<(f64, f64)> {
    let mut command = Command::new(binary);
    command.current_dir(folder).args(["windows", "--json", "--desktop", "virtual"]);
    for document in documents {
        command.args(["--open", document]);
    }
    let (begun, before) = (Instant::now(), ticks()?);
    let output = command.stderr(Stdio::inherit()).output().context("run deskhand")?;
    let (seconds, after) = (begun.elapsed().as_secs_f64(), ticks()?);
    ensure!(output.status.success(), "deskhand failed to open {}", documents.join(", "));
    let all = after.all.saturating_sub(before.all);
    let idle = after.idle.saturating_sub(before.idle);
    // Counts of ticks in a few seconds are exact as floating-point numbers.
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let busy = 1.0 - idle as f64 / all.max(1) as f64;
    Ok((seconds, busy))
}

/// Processor time since the machine started, in ticks of all processors.
struct Ticks {
    all: u64,
    idle: u64,
}

/// The first line of `/proc/stat`; the fourth and fifth numbers are idle time (proc_stat(5)).
fn ticks() -> Result<Ticks> {
    let text = fs::read_to_string("/proc/stat").context("read /proc/stat")?;
    let line = text.lines().next().unwrap_or_default();
    let numbers: Vec<u64> = line.split_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
    ensure!(numbers.len() >= 5, "/proc/stat does not begin with processor times");
    Ok(Ticks { all: numbers.iter().take(8).sum(), idle: numbers.iter().skip(3).take(2).sum() })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_counts() {
        let alone = [("a", 1.0), ("b", 2.0)].map(|(document, seconds)| Alone { document, seconds }).into();
        let figures = Figures::new(alone, 3.0, 0.5);
        assert_eq!(figures.alone[0].document, "b");
        assert!((figures.ratio - 1.5).abs() < 1e-9);
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
    }
}
