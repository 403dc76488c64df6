//! `cargo xtask bench`: measurements, printed beside the load of the machine.

mod perception;
mod sessions;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

/// What is measured.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Memory and time of many sessions at once, and of a long one, on the desktop in memory.
    Sessions(sessions::SessionsArguments),
    /// How fast and how true perception is: trees, pictures, idle, tokens, whole steps.
    Perception(perception::PerceptionArguments),
}

/// Measures.
pub(crate) fn run(bench: &Bench) -> Result<ExitCode> {
    match bench {
        Bench::Sessions(arguments) => sessions::run(arguments),
        Bench::Perception(arguments) => perception::run(arguments),
    }
}
