//! `cargo xtask test`: runs all checks in stages and stops at the first failure.

use std::{
    process::{Command, ExitCode},
    time::Instant,
};

use anyhow::{Context, Result, ensure};

use crate::{
    book, console, setup, tidy,
    tools::{DENY, NEXTEST, TOOLS, Tool},
    wheels,
    workspace::cargo,
};

/// Runs the command. The test runner comes last, so that its summary ends the output.
pub(crate) fn run() -> Result<ExitCode> {
    let start = Instant::now();
    stage("setup", setup::ensure_installed)?;
    stage("tools", || TOOLS.iter().try_for_each(Tool::ensure_installed))?;
    stage("wheels", wheels::ensure_downloaded)?;
    stage("fmt", || finish(cargo().args(["fmt", "--all", "--check"])))?;
    stage("tidy", tidy::check)?;
    stage("clippy", || {
        finish(cargo().args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    })?;
    stage("deny", || {
        finish(DENY.command()?.args(["--log-level", "error", "check", "bans", "licenses", "sources"]))
    })?;
    stage("book", book::check)?;
    // With the same features as the tests, so that nothing is built twice.
    let programs = ["build", "--quiet", "--workspace", "--bins", "--example", "confined"];
    stage("build", || finish(cargo().args(programs)))?;
    stage("doc", || finish(cargo().args(["test", "--quiet", "--workspace", "--doc"])))?;
    console::progress(&format!(
        "── tests    (earlier stages passed in {})",
        console::duration(start.elapsed())
    ));
    let status = tests()?.status().context("run the tests")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The command that runs all tests.
pub(crate) fn tests() -> Result<Command> {
    let mut command = NEXTEST.command()?;
    // Fail desktop tests with missing programs instead of skipping them.
    command.env("DESKHAND_ALL_TESTS", "1");
    // Not the examples, which are benchmarks: clippy checks them, and no test runs one but what the stage `build` has built.
    command.args(["run", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"]);
    Ok(command)
}

fn stage(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let start = Instant::now();
    console::progress(&format!("── {name}"));
    work().with_context(|| format!("stage `{name}` failed"))?;
    console::progress(&format!("── {name:8} passed in {}", console::duration(start.elapsed())));
    Ok(())
}

fn finish(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("run {}", line(command)))?;
    ensure!(status.success(), "`{}` exited with {status}", line(command));
    Ok(())
}

fn line(command: &Command) -> String {
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
    format!("cargo {}", arguments.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_stage_names_its_command() {
        let error = stage("list", || finish(cargo().args(["no-such-subcommand", "--flag"]))).unwrap_err();
        let text = format!("{error:#}");
        assert!(
            text.starts_with("stage `list` failed: `cargo no-such-subcommand --flag` exited with"),
            "{text}"
        );
    }

    #[test]
    fn a_passing_stage_returns() {
        stage("version", || finish(cargo().args(["--version", "--quiet"]))).unwrap();
    }
}
