//! `cargo xtask bench memory`: the long form of the tests with a model that remembers nothing.

use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::tools::NEXTEST;

/// Runs all of the long tasks; the tests run three of them.
pub(crate) fn run() -> Result<ExitCode> {
    let mut command = NEXTEST.command()?;
    command.env("DESKHAND_ALL_TESTS", "1").env("DESKHAND_LONG_TESTS", "1");
    // With the same features as all tests, so that nothing is built twice.
    command.args(["run", "--workspace", "--lib", "--bins", "--tests", "--no-capture"]);
    command.args(["-E", "test(/^remembering::/)"]);
    let status = command.status().context("run the tests")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
