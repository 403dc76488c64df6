//! Project commands: `cargo xtask setup|test|tidy|book|demo|bench|redteam`.
//!
//! Depends on none of our crates, so that its checks share no code with the product.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[cfg(test)]
mod architecture;
mod bench;
mod book;
mod console;
mod demo;
mod extras;
mod ods;
mod packages;
mod product;
mod redteam;
mod setup;
mod test;
mod tidy;
#[cfg(test)]
mod toolchain;
mod tools;
mod wheels;
mod workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Project commands", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
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
    #[command(subcommand)]
    Bench(bench::Bench),
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

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Setup(arguments) => setup::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Tidy => tidy::run(),
        Command::Book => book::run(),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Bench(bench) => bench::run(&bench),
        Command::Redteam(arguments) => redteam::run(&arguments),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            console::problem(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
