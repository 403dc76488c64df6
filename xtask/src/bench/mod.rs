//! `cargo xtask bench`: benchmarks, with the machine load.

mod perception;
mod sessions;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

/// The benchmarks.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Measure memory and time of many concurrent sessions and of a long one, on the in-memory desktop.
    Sessions(sessions::SessionsArguments),
    /// Measure speed and accuracy of perception: trees, pictures, idle detection, tokens, steps, verdicts.
    ///
    /// Starts each application on a private desktop and prints the cost of observing its window through the mirror, by one
    /// bulk read, by a naive walk and by the same walk with pyatspi; its responsiveness to input meanwhile; pictures; the
    /// time to detect a no-op click; the tokens of views; a whole step of the framework; and how many random actions were
    /// judged wrongly. Compare ratios within one run; the machine load is printed with them. Missing programs are reported
    /// and skipped; `cargo xtask setup` installs them.
    ///
    /// A full run takes about ten minutes. For a short one: `--only calc --edits 50 --actions 0`.
    Perception(perception::PerceptionArguments),
}

/// Runs a benchmark.
pub(crate) fn run(bench: &Bench) -> Result<ExitCode> {
    match bench {
        Bench::Sessions(arguments) => sessions::run(arguments),
        Bench::Perception(arguments) => perception::run(arguments),
    }
}
