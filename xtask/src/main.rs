//! The project's own commands: `cargo xtask setup|test|tidy|book|demo|bench`.
//!
//! Depends on nothing of ours, so that what it checks is checked by code that shares nothing with the product.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[cfg(test)]
mod architecture;
mod bench;
mod book;
mod console;
mod demo;
mod ods;
mod packages;
mod setup;
mod test;
mod tidy;
#[cfg(test)]
mod toolchain;
mod tools;
mod workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own commands", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install the Debian packages and the tools of cargo that the product and its tests need.
    Setup(setup::SetupArguments),
    /// Everything that must pass: set-up, format, lints, tidy, build and every test.
    Test,
    /// The house rules that no compiler checks, and how much code there is.
    Tidy,
    /// Build the book in `docs/` with mdbook; its warnings are errors.
    Book,
    /// The main job on real LibreOffice, its result checked by code that is not the agent's.
    Demo(demo::DemoArguments),
    /// Measurements, printed beside the load of the machine.
    #[command(subcommand)]
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Setup(arguments) => setup::run(&arguments),
        Command::Test => test::run(),
        Command::Tidy => tidy::run(),
        Command::Book => book::run(),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Bench(bench) => bench::run(&bench),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            console::problem(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
