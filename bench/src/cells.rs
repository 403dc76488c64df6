//! `cargo xtask bench cells`: cells of a spreadsheet, by its own interface and through its window.

use std::{
    path::{Path, PathBuf},
    process::{ExitCode, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use xtask::{console, workspace};

/// The programs that it needs.
const PROGRAMS: &[&str] = &["Xvfb", "openbox", "dbus-daemon", "soffice", "python3"];

/// Options of `cargo xtask bench cells`.
#[derive(Args)]
pub(crate) struct CellsArguments {
    /// Rows of 20 cells that are written in one call of the interface.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    rows: u32,
    /// Rows of 20 cells that are typed.
    #[arg(long, value_name = "N", default_value_t = 5)]
    typed: u32,
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the benchmark and prints its figures.
pub(crate) fn run(arguments: &CellsArguments) -> Result<ExitCode> {
    let rows = [arguments.rows.to_string(), arguments.typed.to_string()];
    run_example("cells", PROGRAMS, &rows, arguments.json.as_deref())
}

/// Runs an example that prints its figures as JSON, prints them and writes them to a file.
pub(super) fn run_example(
    name: &str,
    programs: &[&str],
    arguments: &[String],
    json: Option<&Path>,
) -> Result<ExitCode> {
    for program in programs {
        ensure!(workspace::is_program(program), "{program} is not installed; run `cargo xtask setup`");
    }
    console::progress("building …");
    let mut command = workspace::cargo();
    command.args(["run", "--quiet", "--workspace", "--example", name, "--"]).args(arguments);
    let output = command.stderr(Stdio::inherit()).output().context("run the benchmark")?;
    ensure!(output.status.success(), "the benchmark failed: {}", output.status);
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    console::result(&text);
    if let Some(file) = json {
        std::fs::write(file, format!("{text}\n")).with_context(|| format!("write {}", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
