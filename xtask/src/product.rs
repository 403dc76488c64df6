//! The programs that this repository builds, as the demo and the benchmarks run them, and as set-up installs them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::{console, workspace::cargo};

/// How it is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// As the tests build it: with the features of the whole workspace, so that nothing is built twice.
    Tests,
    /// For release. That takes less time than the dev profile, which optimises the dependencies as well.
    Release,
}

/// The executable that was given, or one that is built now.
///
/// # Errors
/// There is no such file, or the build fails.
pub fn executable(given: Option<&Path>, build: Build) -> Result<PathBuf> {
    match given {
        Some(file) => fs::canonicalize(file).with_context(|| format!("find {}", file.display())),
        None => built(build),
    }
}

/// Builds the program `deskhand`.
///
/// # Errors
/// The build fails.
pub fn built(build: Build) -> Result<PathBuf> {
    built_program("deskhand", build)
}

/// Builds a program and finds its executable.
///
/// # Errors
/// The build fails.
pub fn built_program(name: &str, build: Build) -> Result<PathBuf> {
    let arguments: &[&str] = match build {
        Build::Tests => &["--workspace", "--bins"],
        Build::Release => &["--release", "--package", name],
    };
    console::progress(&match build {
        Build::Tests => "building …".to_owned(),
        Build::Release => format!("building {name} for release …"),
    });
    let output = cargo()
        .arg("build")
        .args(arguments)
        .args(["--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("run cargo build")?;
    ensure!(output.status.success(), "cargo build exited with {}", output.status);
    executable_in(&String::from_utf8_lossy(&output.stdout), name)
        .context("find the executable in cargo's output")
}

fn executable_in(messages: &str, program: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message.pointer("/target/name").is_some_and(|name| name == program))
        .find_map(|message| message.get("executable").and_then(Value::as_str).map(PathBuf::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_executable_in_cargo_messages() {
        let messages = "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"serde\"},\"executable\":null}\n\
                        {\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"deskhand\"},\"executable\":\"t/debug/deskhand\"}\n\
                        {\"reason\":\"build-finished\",\"success\":true}\n";
        assert_eq!(executable_in(messages, "deskhand"), Some(PathBuf::from("t/debug/deskhand")));
        assert_eq!(executable_in(messages, "deskhand-local"), None);
        assert_eq!(executable_in("{}\n", "deskhand"), None);
    }
}
