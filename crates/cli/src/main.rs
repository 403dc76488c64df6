//! The command line of Deskhand.
//!
//! A thin layer: [`args`] parses arguments into types, each command is one file in [`commands`], and [`exit`] prints errors
//! once. `deskhand_core` decides what agents do, and `deskhand_runtime` does it.

mod args;
mod commands;
mod exit;
mod output;
mod people;
#[cfg(test)]
mod reference_tests;
mod render;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    start_log();
    exit::end(commands::run(arguments.command))
}

/// Logs to standard error: errors only, unless `DESKHAND_LOG` says otherwise (`debug`,
/// `deskhand_desktop=trace`, …).
fn start_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("DESKHAND_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).compact().init();
}
