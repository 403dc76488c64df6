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
    /// How fast and how true perception is: trees, pictures, idle, tokens, whole steps, verdicts.
    ///
    /// Starts each application on a private desktop and prints, in one run: what a look at its window costs by the mirror,
    /// by reading everything at once, by a naive walk and by the same walk with pyatspi; whether it answers input meanwhile;
    /// pictures; how soon it is known that a click did nothing; what views cost in tokens; a whole step of the framework; and
    /// how many of so many random actions were judged wrongly. Ratios within one run are what counts: the load of the
    /// machine is printed beside them. What is not installed is named and left out; `cargo xtask setup` installs it.
    ///
    /// All of it takes about ten minutes. For a short run: `--only calc --edits 50 --actions 0`.
    Perception(perception::PerceptionArguments),
}

/// Measures.
pub(crate) fn run(bench: &Bench) -> Result<ExitCode> {
    match bench {
        Bench::Sessions(arguments) => sessions::run(arguments),
        Bench::Perception(arguments) => perception::run(arguments),
    }
}
