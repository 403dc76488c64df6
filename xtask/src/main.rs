//! Project commands: `cargo xtask setup|test|tidy|book|demo|bench|redteam`.

use std::process::ExitCode;

use clap::Parser as _;
use xtask::{command::Arguments, console};

fn main() -> ExitCode {
    Arguments::parse().command.run().unwrap_or_else(|error| {
        console::problem(&format!("{error:#}"));
        ExitCode::FAILURE
    })
}
