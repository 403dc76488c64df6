//! Applies every rule to every file and reports the findings.

use std::process::ExitCode;

use anyhow::{Result, bail};

use super::{
    code,
    files::{self, Finding, SourceFile},
    growth, house, layout, manifests, skips, tool_names, words,
};
use crate::console;

/// Runs the command.
pub fn run() -> Result<ExitCode> {
    let files = files::read()?;
    console::result(&growth::report(&files));
    console::result(&house::report(&files));
    check_files(&files)?;
    console::result(&format!("tidy: {} files, no findings", files.len()));
    Ok(ExitCode::SUCCESS)
}

/// The stage of `cargo xtask test`: fails if a rule is broken.
pub fn check() -> Result<()> {
    check_files(&files::read()?)
}

fn check_files(files: &[SourceFile]) -> Result<()> {
    let findings: Vec<String> =
        findings(files).iter().map(ToString::to_string).chain(house::check(files)).collect();
    for finding in &findings {
        console::problem(finding);
    }
    if !findings.is_empty() {
        bail!("{} house rule violations", findings.len());
    }
    Ok(())
}

fn findings(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = files
        .iter()
        .flat_map(|file| {
            [
                code::check(file),
                growth::check(file),
                layout::check(file),
                manifests::check(file),
                skips::check(file),
                words::check(file, files),
            ]
            .concat()
        })
        .chain(tool_names::check(files))
        .collect();
    findings.sort();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_repository_is_tidy() {
        let findings = findings(&files::read().unwrap());
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }

    #[test]
    fn findings_are_sorted_by_location() {
        let bad = SourceFile::sample(
            "agent/machine/src/a.rs",
            "fn a() { todo!() } \n#[allow(dead_code)]\nfn b() {}\n",
        );
        let lines: Vec<String> = findings(&[bad]).iter().map(ToString::to_string).collect();
        let expected = [
            "agent/machine/src/a.rs:1: `todo!(`: implement it",
            "agent/machine/src/a.rs:1: start the module with `//!` documentation",
            "agent/machine/src/a.rs:1: trailing white space",
            "agent/machine/src/a.rs:2: `#[allow(`: use #[expect(lint, reason = \"…\")]",
        ];
        assert_eq!(lines, expected);
    }
}
