//! `cargo xtask bench live`: how old the picture of a live screen is.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::Args;

use super::cells::run_example;

/// The programs that it needs.
const PROGRAMS: &[&str] = &["Xvfb", "openbox", "dbus-daemon"];

/// Options of `cargo xtask bench live`.
#[derive(Args)]
pub(crate) struct LiveArguments {
    /// How often each area is drawn.
    #[arg(long, value_name = "N", default_value_t = 40)]
    times: u32,
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the benchmark and prints its figures.
pub(crate) fn run(arguments: &LiveArguments) -> Result<ExitCode> {
    run_example("live", PROGRAMS, &[arguments.times.to_string()], arguments.json.as_deref())
}
