//! `cargo xtask bench prompts`: what the prompts of recorded sessions cost, as they were recorded and as they are today.

use std::{collections::BTreeMap, path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};

use xtask::{console, workspace};

/// Where the recordings are, from the root of the workspace.
pub(super) const RECORDINGS: &str = "agent/runtime/tests/it/sessions/steps";

#[derive(Args)]
pub(crate) struct PromptsArguments {
    /// Print the last prompt of one recording instead.
    #[arg(long, value_name = "RECORDING")]
    show: Option<String>,
    /// Write the results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A recording, or all of them together, as the program measures it.
#[derive(Debug, Clone, Default, Deserialize)]
struct Measured {
    name: String,
    questions: usize,
    before: BTreeMap<String, usize>,
    after: BTreeMap<String, usize>,
    later: usize,
    cached: usize,
    missing: Vec<String>,
}

/// What is written as JSON.
#[derive(Debug, PartialEq, Serialize)]
struct Figures {
    tokens_before: usize,
    tokens_after: usize,
    cached_share: f64,
    by_part: BTreeMap<String, ByPart>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
struct ByPart {
    before: usize,
    after: usize,
}

/// Measures all recordings, prints a table, and fails if a prompt lacks what a decision used.
pub(crate) fn run(arguments: &PromptsArguments) -> Result<ExitCode> {
    let mut command = workspace::cargo();
    command.args([
        "run",
        "--quiet",
        "--package",
        "deskhand-runtime",
        "--example",
        "prompts",
        "--",
        RECORDINGS,
    ]);
    command.args(&arguments.show);
    console::progress("building and measuring …");
    let output =
        command.stderr(std::process::Stdio::inherit()).output().context("start the measuring program")?;
    if !output.status.success() {
        bail!("the measuring program failed");
    }
    if arguments.show.is_some() {
        console::result(String::from_utf8_lossy(&output.stdout).trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    let sessions: Vec<Measured> = serde_json::from_slice(&output.stdout).context("parse the results")?;
    console::result("recording     questions    tokens before     after    fewer    cached");
    for session in &sessions {
        row(session);
    }
    let all = sessions.last().context("find the figures of all recordings")?;
    let figures = figures(all);
    console::result("\ntokens before     after    part");
    let mut parts: Vec<(&String, &ByPart)> = figures.by_part.iter().collect();
    parts.sort_by_key(|(_, part)| std::cmp::Reverse(part.before.max(part.after)));
    for (name, part) in parts {
        console::result(&format!("{:>13} {:>9}    {name}", part.before, part.after));
    }
    for missing in &all.missing {
        console::result(&format!("missing, although a decision used it: {missing}"));
    }
    console::write_figures(arguments.json.as_deref(), &figures)?;
    Ok(if all.missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn row(session: &Measured) {
    let (before, after): (usize, usize) = (session.before.values().sum(), session.after.values().sum());
    console::result(&format!(
        "{:<12} {:>10} {before:>16} {after:>9} {:>6.1} % {:>7.1} %",
        session.name,
        session.questions,
        100.0 * (1.0 - share(after, before)),
        100.0 * share(session.cached, session.later),
    ));
}

fn figures(all: &Measured) -> Figures {
    let mut by_part: BTreeMap<String, ByPart> = BTreeMap::new();
    for (part, tokens) in &all.before {
        by_part.entry(part.clone()).or_default().before = *tokens;
    }
    for (part, tokens) in &all.after {
        by_part.entry(part.clone()).or_default().after = *tokens;
    }
    Figures {
        tokens_before: all.before.values().sum(),
        tokens_after: all.after.values().sum(),
        cached_share: share(all.cached, all.later),
        by_part,
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_by_part() {
        let figures = figures(&Measured {
            questions: 4,
            before: BTreeMap::from([("Tools".to_owned(), 160)]),
            after: BTreeMap::from([("Tools".to_owned(), 80), ("Rules".to_owned(), 10)]),
            later: 200,
            cached: 150,
            ..Measured::default()
        });
        assert_eq!((figures.tokens_before, figures.tokens_after), (160, 90));
        assert_eq!(figures.by_part["Tools"], ByPart { before: 160, after: 80 });
        assert_eq!(figures.by_part["Rules"], ByPart { before: 0, after: 10 });
        assert!((figures.cached_share - 0.75).abs() < f64::EPSILON);
    }
}
