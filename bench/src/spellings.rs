//! Runs the fuzzer of spellings in its long form.

use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;

use xtask::{console, workspace::cargo};

/// Options of `cargo xtask bench spellings`.
#[derive(Args)]
pub(crate) struct SpellingsArguments {
    /// Number of cases of each property.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    cases: u32,
}

/// Runs the fuzzer, prints its counts, and fails if a denied action gets through.
pub(crate) fn run(arguments: &SpellingsArguments) -> Result<ExitCode> {
    console::progress("building for release …");
    let output = cargo()
        .args(["test", "--release", "--quiet", "--package", "deskhand-machine", "--test", "it"])
        .args(["--", "spellings::", "--nocapture", "--test-threads", "1"])
        .env("DESKHAND_SPELLINGS", arguments.cases.to_string())
        .stderr(Stdio::inherit())
        .output()
        .context("run the fuzzer")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let counts: Vec<&str> = text.lines().filter(|line| line.contains(" spellings of ")).collect();
    counts.iter().for_each(|line| console::result(line));
    if !output.status.success() {
        console::problem(text.trim());
        return Ok(ExitCode::FAILURE);
    }
    ensure!(!counts.is_empty(), "the fuzzer printed no counts");
    Ok(ExitCode::SUCCESS)
}
