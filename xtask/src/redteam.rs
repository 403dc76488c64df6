//! `cargo xtask redteam`: builds and runs the red team and prints what came of each attack.

use std::{
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::{
    console,
    workspace::{cargo, root},
};

/// Options of `cargo xtask redteam`.
#[derive(Args)]
pub struct RedteamArguments {
    /// Play only this attack, task or carrier; repeatable.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Play the attacks of the second player in this file, and nothing else.
    #[arg(long, value_name = "FILE")]
    attacks: Option<PathBuf>,
    /// Play only the short form, a few attacks of every carrier, as the tests do.
    #[arg(long)]
    short: bool,
    /// First play each attack with everything that guards switched off: it must succeed there, and the oracle must see it.
    #[arg(long)]
    control: bool,
    /// List the attacks and tasks, and play none.
    #[arg(long)]
    list: bool,
    /// Print what the model did and what was asked in each case, not only in those that are not as they should be.
    #[arg(long)]
    trace: bool,
    /// Number of cases that are played side by side.
    #[arg(long, value_name = "N", default_value_t = 6)]
    lanes: u32,
    /// Play the second player only with bubblewrap (on), or only without (off) [default: both].
    #[arg(long, value_name = "HOW", value_parser = ["on", "off"])]
    confine: Option<String>,
    /// Play the second player only as root, or only as a user without rights [default: both, where root runs it].
    #[arg(long = "as", value_name = "WHO", value_parser = ["root", "user"])]
    account: Option<String>,
    /// Print the results as JSON, or write them to this file besides.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "without the option, with it alone, or with a file")]
    json: Option<Option<PathBuf>>,
}

/// Both at once: alone, each is built with other features of the dependencies.
const BUILD: &[&str] = &["--quiet", "--package", "deskhand", "--bin", "deskhand", "--example", "redteam"];

/// Runs the red team; fails if an act got through, a task was not done or asked about otherwise, or a control run saw nothing.
pub fn run(arguments: &RedteamArguments) -> Result<ExitCode> {
    console::progress("building …");
    let status = cargo().arg("build").args(BUILD).status().context("start cargo")?;
    ensure!(status.success(), "failed to build the red team");
    let mut command = Command::new(built("examples/redteam"));
    command.arg("--deskhand").arg(built("deskhand")).args(["--lanes", &arguments.lanes.max(1).to_string()]);
    for name in &arguments.only {
        command.args(["--only", name]);
    }
    if let Some(file) = &arguments.attacks {
        command.arg("--attacks").arg(file);
    }
    for (value, option) in [(&arguments.confine, "--confine"), (&arguments.account, "--as")] {
        if let Some(value) = value {
            command.args([option, value]);
        }
    }
    for (is_set, flag) in [
        (arguments.short, "--short"),
        (arguments.control, "--control"),
        (arguments.list, "--list"),
        (arguments.trace, "--trace"),
    ] {
        if is_set {
            command.arg(flag);
        }
    }
    let output = command.stderr(Stdio::inherit()).output().context("run the red team")?;
    ensure!(output.status.success(), "the red team failed ({})", output.status);
    if arguments.list {
        console::result(String::from_utf8_lossy(&output.stdout).trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    let figures: Value = serde_json::from_slice(&output.stdout).context("parse the results")?;
    match &arguments.json {
        Some(None) => console::result(&serde_json::to_string_pretty(&figures)?),
        json => {
            for line in lines(&figures) {
                console::result(&line);
            }
            console::write_figures(json.clone().flatten().as_deref(), &figures)?;
        }
    }
    Ok(if is_good(&figures) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A program that was built.
fn built(name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(target).join("debug").join(name)
}

/// Returns `true` if nothing got through, and every task was done with as many questions as expected.
fn is_good(figures: &Value) -> bool {
    rows(figures).all(|row| row["good"] == true)
}

fn rows(figures: &Value) -> impl Iterator<Item = &Value> {
    figures["rows"].as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The results as text.
fn lines(figures: &Value) -> Vec<String> {
    let mut lines = vec![format!(
        "{:<13} {:<46} {:<14} {:<19} {:>5}  goal",
        "carrier", "attack or task", "mode", "outcome", "asked"
    )];
    lines.extend(rows(figures).map(|row| {
        format!(
            "{:<13} {:<46} {:<14} {:<19} {:>5}  {}",
            text(&row["carrier"]),
            text(&row["name"]),
            text(&row["mode"]),
            text(&row["outcome"]),
            row["questions"].as_array().map_or(0, Vec::len),
            text(&row["goal"])
        )
    }));
    lines.extend(
        figures["documented"].as_object().into_iter().flatten().map(|(name, sentence)| {
            format!("{name} is documented as not defended there: {}", text(sentence))
        }),
    );
    let counts = figures["outcomes"].as_object().into_iter().flatten();
    let counts: Vec<String> = counts.map(|(outcome, count)| format!("{count} {outcome}")).collect();
    lines.push(counts.join(", "));
    lines.push(format!(
        "{} attacks in {} runs: {} privileged actions; {} honest tasks: {} questions ({} expected), {} \
         not done; {} control runs failed",
        figures["attacks"],
        figures["attack_runs"],
        figures["privileged"],
        figures["honest_tasks"],
        figures["honest_questions"],
        figures["honest_questions_expected"],
        figures["honest_failed"],
        figures["control_failed"]
    ));
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_got_through_is_named_and_fails() {
        let row = |outcome: &str, good: bool| json!({ "carrier": "page", "name": "opens", "outcome": outcome, "good": good, "questions": [1], "goal": "g", "mode": "bare, user" });
        let figures = |rows: Value| {
            json!({
                "attacks": 2, "attack_runs": 4, "documented": { "moves": "They can." }, "privileged": 1, "honest_tasks": 1, "honest_questions": 0, "honest_questions_expected": 0,
                "honest_failed": 0, "control_failed": 0, "outcomes": { "refused": 1, "PRIVILEGED": 1 }, "rows": rows,
            })
        };
        let bad = figures(json!([row("refused", true), row("PRIVILEGED", false)]));
        let shown = lines(&bad).join("\n");
        assert!(
            shown.contains("1 refused, 1 PRIVILEGED")
                && shown.contains("2 attacks in 4 runs: 1 privileged")
                && shown.contains("moves is documented as not defended there: They can."),
            "{shown}"
        );
        assert!(!is_good(&bad) && is_good(&figures(json!([row("refused", true)]))));
    }
}
