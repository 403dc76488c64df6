//! `cargo xtask bench memory`: the long form of the tests with a model that remembers nothing.

use std::process::ExitCode;

use anyhow::{Context as _, Result};

use xtask::test::tests;

/// Runs all of the long tasks; the tests run three of them.
pub(crate) fn run() -> Result<ExitCode> {
    let mut command = tests()?;
    command.env("DESKHAND_LONG_TESTS", "1").args(["--no-capture", "-E", "test(/^remembering::/)"]);
    let status = command.status().context("run the tests")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
