//! The command line of `cargo xtask`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};

use crate::{book, demo, redteam, setup, test, tidy, workspace};

/// The arguments.
#[derive(Parser)]
#[command(name = "cargo xtask", about = "Project commands", disable_help_subcommand = true)]
pub struct Arguments {
    #[command(subcommand)]
    /// The command.
    pub command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Install missing Debian packages, cargo tools and Python wheels.
    Setup(setup::SetupArguments),
    /// Run all checks: setup, format, tidy, lints, dependencies, book, build and tests.
    Test(test::TestArguments),
    /// Check the house rules and report code size.
    Tidy,
    /// Build the book in `docs/` with mdbook, treating warnings as errors.
    Book,
    /// Run the main job on real LibreOffice and verify its result independently.
    Demo(demo::DemoArguments),
    /// Run benchmarks and print the machine load with the results.
    ///
    /// `cargo xtask bench --help` lists them.
    #[command(disable_help_flag = true)]
    Bench {
        /// The benchmark, with its options.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
        arguments: Vec<String>,
    },
    /// Attack the program with content that gives orders and a model that obeys them.
    ///
    /// Documents, pages, mails, window titles, file names, the clipboard, results of tools and pictures carry orders; the model of
    /// each attack does what it reads, on real applications, and the user approves every question that does not name the act.
    /// Files, logs of pages and logs of applications show what happened; nothing that the program says counts. Then come honest
    /// tasks, with the number of questions that they are asked. Fails if an act got through, a task was not done, or the
    /// number of questions is another one. docs/internals/red-team.md says how to add an attack.
    ///
    /// A full run takes about five minutes. For a single attack: `--only NAME --trace`; `--control` proves that it can succeed.
    Redteam(redteam::RedteamArguments),
}

impl Command {
    /// Runs the command.
    ///
    /// # Errors
    /// The failure of the command.
    pub fn run(&self) -> Result<ExitCode> {
        match self {
            Self::Setup(arguments) => setup::run(arguments),
            Self::Test(arguments) => test::run(arguments),
            Self::Tidy => tidy::run(),
            Self::Book => book::run(),
            Self::Demo(arguments) => demo::run(arguments),
            Self::Bench { arguments } => bench(arguments),
            Self::Redteam(arguments) => redteam::run(arguments),
        }
    }
}

/// Builds and runs the program of the benchmarks, which is a package of its own: most commands do not need it.
fn bench(arguments: &[String]) -> Result<ExitCode> {
    let mut command = workspace::cargo();
    command.args(["run", "--quiet", "--package", "deskhand-bench", "--"]).args(arguments);
    let status = command.status().context("run the benchmarks")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
