//! `cargo xtask bench sessions`: checks that session cost does not grow with their number or length.

use std::{
    path::PathBuf,
    process::{Command, ExitCode},
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};

use xtask::{console, workspace};

/// The cost ratio above which a result counts as growth.
const GROWTH_MAX: f64 = 2.0;
/// Memory per session, in KiB, below which differences are allocator noise.
const NOISE_KIB: f64 = 1024.0;

#[derive(Args)]
pub(crate) struct SessionsArguments {
    /// Maximum number of concurrent sessions.
    #[arg(long, value_name = "N", default_value_t = 50)]
    sessions: u32,
    /// Steps of the long session; its journal takes about 30 kB of disk per step while running.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    steps: u32,
    /// Write the results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The results of one run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Figures {
    sessions: u32,
    steps: u32,
    kib_per_session: f64,
    processor_us_per_step: f64,
    elapsed_us_per_step: f64,
}

/// A run compared with its baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Compared {
    what: &'static str,
    memory_ratio: f64,
    time_ratio: f64,
    grows: bool,
}

/// Runs the benchmark, prints a table, and fails on growth.
pub(crate) fn run(arguments: &SessionsArguments) -> Result<ExitCode> {
    const STEPS: u32 = 100;
    let ten = (arguments.sessions / 5).max(1);
    let runs = [(1, STEPS), (ten, STEPS), (arguments.sessions, STEPS), (1, arguments.steps)];
    build()?;
    let mut figures = Vec::new();
    for (sessions, steps) in runs {
        console::progress(&format!("{sessions} sessions of {steps} steps …"));
        figures.push(measure(sessions, steps)?);
    }
    let [one, _, many, long] = figures.as_slice() else { bail!("missing measurement") };
    let (one, many, long) = (*one, *many, *long);
    let compared = [compare("many sessions", many, one), compare("a long session", long, one)];
    console::result("sessions    steps   KiB / session         CPU µs / step   elapsed µs / step");
    for line in &figures {
        console::result(&format!(
            "{:>8} {:>8} {:>15.0} {:>21.0} {:>19.0}",
            line.sessions,
            line.steps,
            line.kib_per_session,
            line.processor_us_per_step,
            line.elapsed_us_per_step
        ));
    }
    for line in &compared {
        let verdict = if line.grows { "GROWS" } else { "does not grow" };
        console::result(&format!(
            "{}: memory × {:.2}, time × {:.2}: {verdict}",
            line.what, line.memory_ratio, line.time_ratio
        ));
    }
    console::write_figures(
        arguments.json.as_deref(),
        &serde_json::json!({ "runs": figures, "compared": compared }),
    )?;
    let grows = compared.iter().any(|line| line.grows);
    Ok(if grows { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Builds the benchmark program first, so that no compiler runs during measurements.
fn build() -> Result<()> {
    console::progress("building for release …");
    let status = subcommand("build").status().context("start cargo")?;
    if !status.success() {
        bail!("failed to build the benchmark program");
    }
    Ok(())
}

fn subcommand(name: &str) -> Command {
    let mut command = workspace::cargo();
    command.args([
        name,
        "--quiet",
        "--release",
        "--package",
        "deskhand-runtime",
        "--example",
        "sessions_bench",
    ]);
    command
}

fn measure(sessions: u32, steps: u32) -> Result<Figures> {
    let output = subcommand("run")
        .args(["--", &sessions.to_string(), &steps.to_string()])
        .output()
        .context("start the benchmark program")?;
    if !output.status.success() {
        bail!("the benchmark program failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("parse the results")
}

fn compare(what: &'static str, run: Figures, base: Figures) -> Compared {
    let memory_ratio = run.kib_per_session.max(NOISE_KIB) / base.kib_per_session.max(NOISE_KIB);
    let time_ratio = run.processor_us_per_step / base.processor_us_per_step.max(1.0);
    Compared { what, memory_ratio, time_ratio, grows: memory_ratio > GROWTH_MAX || time_ratio > GROWTH_MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_reported_and_noise_is_not() {
        let figures = |kib_per_session: f64, processor_us_per_step: f64| Figures {
            sessions: 1,
            steps: 100,
            kib_per_session,
            processor_us_per_step,
            elapsed_us_per_step: 0.0,
        };
        let base = figures(500.0, 900.0);
        assert!(!compare("same", figures(900.0, 1_000.0), base).grows);
        assert!(compare("memory", figures(5_000.0, 900.0), base).grows);
        assert!(compare("time", figures(500.0, 2_000.0), base).grows);
    }
}
