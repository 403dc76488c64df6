//! `cargo xtask bench choices`: how often a model chooses the right window and the right element, asked in the usual way and as a small one.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    process::{ExitCode, Stdio},
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde::Deserialize;

use super::prompts::RECORDINGS;
use xtask::{console, workspace};

#[derive(Args)]
pub(crate) struct ChoicesArguments {
    /// Ask at most so many questions of each kind.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    most: usize,
    /// Ask in one way alone.
    #[arg(long, value_parser = ["usual", "words", "embeddings"])]
    mode: Option<String>,
    /// Ask about one kind of choice alone.
    #[arg(long, requires = "mode", value_parser = ["window", "element"])]
    kind: Option<String>,
    /// Write the results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A line of the measuring program.
#[derive(Deserialize)]
struct Measured {
    mode: String,
    figures: BTreeMap<String, Figures>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Figures {
    right: u32,
    of: u32,
    invalid: u32,
    prompt_tokens: u64,
    ms: u64,
}

/// Asks the configured model, and prints a table.
pub(crate) fn run(arguments: &ChoicesArguments) -> Result<ExitCode> {
    let mut command = workspace::cargo();
    command.args(["run", "--quiet", "--package", "deskhand-host", "--example", "choices", "--", RECORDINGS]);
    command.arg(arguments.most.to_string()).args(&arguments.mode).args(&arguments.kind);
    console::progress("building, and asking the configured model; each answer follows …");
    let output = command.stderr(Stdio::inherit()).output().context("start the measuring program")?;
    if !output.status.success() {
        bail!("the measuring program failed");
    }
    let text = String::from_utf8(output.stdout).context("read the results")?;
    let read = |line: &str| serde_json::from_str::<Measured>(line).context("parse the results");
    console::result("asked         kind       right         invalid    tokens each    seconds each");
    for measured in text.lines().map(read) {
        let Measured { mode, figures } = measured?;
        figures.iter().for_each(|(kind, figures)| console::result(&row(&mode, kind, figures)));
    }
    if let Some(file) = &arguments.json {
        std::fs::write(file, text).with_context(|| format!("write {}", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(mode: &str, kind: &str, figures: &Figures) -> String {
    let Figures { right, of, invalid, prompt_tokens, ms } = figures;
    let each = |sum: u64| sum / u64::from(*of).max(1);
    let tenths = each(ms / 100);
    format!(
        "{mode:<13} {kind:<10} {right:>2} of {of:<7} {invalid:>7} {:>14} {:>13}.{}",
        each(*prompt_tokens),
        tenths / 10,
        tenths % 10
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_for_each_question() {
        let figures = Figures { right: 9, of: 10, invalid: 1, prompt_tokens: 4_000, ms: 25_000 };
        assert_eq!(
            row("usual", "window", &figures),
            "usual         window      9 of 10            1            400             2.5"
        );
        assert!(row("nearest", "element", &Figures::default()).ends_with("0.0"));
    }
}
