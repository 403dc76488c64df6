//! `deskhand`: says what to do with a desktop, and shows what was done.
//!
//! Thin: arguments are parsed here into types ([`args`]), each command is one file ([`commands`]), errors are
//! printed once ([`exit`]). What agents do is decided in `deskhand_core` and done in `deskhand_runtime`.

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

/// The log goes to standard error and holds errors only, unless `DESKHAND_LOG` says otherwise (`debug`,
/// `deskhand_desktop=trace`, …).
fn start_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("DESKHAND_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).compact().init();
}
