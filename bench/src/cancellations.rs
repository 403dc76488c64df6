//! `cargo xtask bench cancellations`: actions that are cancelled at random moments, judged by the log of the application.

use std::{
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::Value;

use xtask::{
    console,
    product::{Build, executable},
    workspace::root,
};

/// The program that drives and judges; it shares no code with the product.
const JUDGE: &str = "driver/testkit/fixtures/cancellations.py";

/// Options of `cargo xtask bench cancellations`.
#[derive(Args)]
pub(crate) struct CancellationsArguments {
    /// Number of cancellations, spread evenly over the ways.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    cancellations: usize,
    /// Cancel in this way alone: terminal, api or mcp; repeatable.
    #[arg(long, value_name = "WAY")]
    only: Vec<String>,
    /// Seed of the random actions and moments.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Use this executable instead of building one.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the benchmark. Late inputs and wrong reports fail it.
///
/// # Errors
/// The program cannot be built, or the driver fails.
pub(crate) fn run(arguments: &CancellationsArguments) -> Result<ExitCode> {
    let binary = executable(arguments.binary.as_deref(), Build::Release)?;
    let mut driver = Command::new("python3");
    driver.arg(root().join(JUDGE)).arg("--binary").arg(binary);
    driver.args(["--count", &arguments.cancellations.to_string(), "--seed", &arguments.seed.to_string()]);
    driver.args(arguments.only.iter().flat_map(|way| ["--only", way]));
    let output = driver.stderr(Stdio::inherit()).output().context("run python3")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let figures = text.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok());
    let figures = figures.with_context(|| format!("the driver failed ({})", output.status))?;
    console::result(&figures.to_string());
    console::write_figures(arguments.json.as_deref(), &figures)?;
    let count = |name: &str| figures.get(name).and_then(Value::as_u64);
    ensure!(count("cancellations").is_some_and(|count| count > 0), "nothing was cancelled");
    let is_good = count("late_inputs") == Some(0) && count("wrong_reports") == Some(0);
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
