//! `deskhand-local`: computes with models for Deskhand, which starts it. It answers calls on its standard input and output, and ends with
//! its input.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people who start it by hand")]

use std::{
    io::{self, IsTerminal as _},
    process::ExitCode,
};

const HELP: &str = "deskhand-local computes with models on this machine: it reads text in pictures and compares the meaning of texts.\n\
                    Deskhand starts it. Pull models with `deskhand model pull`; `deskhand doctor` says what uses them.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("--version" | "-V") => println!("deskhand-local {}", env!("CARGO_PKG_VERSION")),
        Some("--help" | "-h") => println!("{HELP}"),
        Some(other) => {
            eprintln!("error: unexpected argument `{other}`\n\n{HELP}");
            return ExitCode::from(2);
        }
        None if io::stdin().is_terminal() => println!("{HELP}"),
        None => {
            if let Err(error) = deskhand_local::serve(io::stdin().lock(), io::stdout()) {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
