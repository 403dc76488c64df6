//! `cargo xtask test`: runs all checks in stages and stops at the first failure.

use std::{
    process::{Command, ExitCode},
    thread,
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::{
    book, console, setup, tidy,
    tools::{DENY, NEXTEST, TOOLS, Tool},
    wheels,
    workspace::cargo,
};

/// Options of `cargo xtask test`.
#[derive(Args)]
pub struct TestArguments {
    /// Only the tests on GNOME and KDE, whose packages are large (500 MB); installs them.
    #[arg(long)]
    portals: bool,
}

/// What the tests on GNOME and KDE need besides.
const PORTALS: &[&str] = &[
    "gnome-shell",
    "gstreamer1.0-pipewire",
    "gstreamer1.0-plugins-base",
    "gstreamer1.0-tools",
    "kwin-wayland",
    "libglib2.0-bin",
    "pipewire",
    "python3-pyatspi",
    "qtwayland5",
    "wireplumber",
    "xdg-desktop-portal-gnome",
    "xdg-desktop-portal-kde",
];

/// Runs the command. The test runner comes last, so that its summary ends the output.
pub fn run(arguments: &TestArguments) -> Result<ExitCode> {
    if arguments.portals {
        return portals();
    }
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
    let mut tests = tests()?;
    // More than processors, since a test of a desktop waits for its programs most of the time.
    let processors = thread::available_parallelism().map_or(1, usize::from);
    tests.arg("--test-threads").arg((processors + processors.div_ceil(2)).to_string());
    let status = tests.status().context("run the tests")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the tests on GNOME and KDE, one at a time: each starts a desktop.
fn portals() -> Result<ExitCode> {
    if !setup::are_installed(PORTALS)? {
        stage("packages", || setup::install_packages(PORTALS))?;
    }
    let mut tests = tests()?;
    tests.env("DESKHAND_PORTALS", "1").args(["--test-threads", "1", "-E", "test(portals::)"]);
    let status = tests.status().context("run the tests on GNOME and KDE")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The command that runs all tests.
pub fn tests() -> Result<Command> {
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
