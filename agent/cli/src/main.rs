//! The command line of Deskhand.
//!
//! A thin layer: [`args`] parses arguments into types, each command is one file in [`commands`], and [`exit`] prints errors
//! once. `deskhand_machine` decides what agents do, and `deskhand_runtime` does it.

mod args;
mod commands;
#[cfg(test)]
mod crash_tests;
mod exit;
mod output;
mod pager;
mod people;
#[cfg(test)]
mod reference_tests;
mod render;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser as _;
use deskhand_secret::Veil;

use crate::output::{Output, OutputStream};

/// What is logged unless something else is asked for. The libraries for NATS and MCP log errors that they return, or that a client made, as
/// well.
const LOGGED: &str = "error,async_nats=off,rmcp=off";

fn main() -> ExitCode {
    let arguments = args::CliArgs::parse();
    start_log();
    hide_in_panics();
    exit::end(commands::run(arguments.command))
}

/// Logs to standard error: errors only, unless `DESKHAND_LOG` says otherwise (`debug`,
/// `deskhand_desktop=trace`, …).
fn start_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("DESKHAND_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(LOGGED));
    let coloured = Output::to(OutputStream::Error).is_coloured();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(coloured)
        .with_writer(|| HidingLogFields)
        .compact()
        .init();
}

/// The standard error of logs, without the values of secrets.
struct HidingLogFields;

impl Write for HidingLogFields {
    /// One whole event of the log.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let veil = Veil::of_process();
        if veil.is_empty() {
            io::stderr().write_all(event)?;
        } else {
            io::stderr().write_all(veil.hide(&String::from_utf8_lossy(event)).as_bytes())?;
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Reports panics without the values of secrets that are known by then.
fn hide_in_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let veil = Veil::of_process();
        if veil.is_empty() {
            usual(info);
        } else {
            let message = info.to_string();
            // There is nobody left to report a failure to.
            writeln!(io::stderr(), "{}", veil.hide(&message)).ok();
        }
    }));
}
