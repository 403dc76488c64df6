//! Builds and runs the benchmark of actions and formats its results.

use std::{
    path::PathBuf,
    process::{ExitCode, Stdio},
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use xtask::{console, workspace::cargo};

/// Options of `cargo xtask bench actions`.
#[derive(Args)]
pub(crate) struct ActionsArguments {
    /// Number of actions, spread evenly over the applications.
    #[arg(long, value_name = "N", default_value_t = 300)]
    actions: usize,
    /// Play only this application; repeatable.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Seed of the random choice of actions.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Also play applications whose packages `cargo xtask setup` does not install; missing ones are listed.
    #[arg(long)]
    real: bool,
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const PROGRAM: &[&str] = &["--release", "--quiet", "--package", "deskhand-runtime", "--example", "actions"];

/// Runs the benchmark and prints the results. Wrong verdicts are results, not failures.
pub(crate) fn run(arguments: &ActionsArguments) -> Result<ExitCode> {
    console::progress("building for release …");
    let status = cargo().arg("build").args(PROGRAM).status().context("start cargo")?;
    ensure!(status.success(), "failed to build the benchmark program");
    let mut command = cargo();
    command.arg("run").args(PROGRAM).args(["--", "--actions", &arguments.actions.to_string()]);
    command.args(["--seed", &arguments.seed.to_string()]);
    for name in &arguments.only {
        command.args(["--only", name]);
    }
    if arguments.real {
        command.arg("--real");
    }
    let output = command.stderr(Stdio::inherit()).output().context("run the benchmark program")?;
    ensure!(output.status.success(), "the benchmark program failed ({})", output.status);
    let figures: Value = serde_json::from_slice(&output.stdout).context("parse the results")?;
    for line in lines(&figures) {
        console::result(&line);
    }
    console::write_figures(arguments.json.as_deref(), &figures)?;
    Ok(ExitCode::SUCCESS)
}

/// A time in whole milliseconds, `-` if missing.
fn ms(value: &Value) -> String {
    value.as_f64().map_or_else(|| "-".to_owned(), |ms| format!("{ms:.0}"))
}

/// The results as text.
fn lines(figures: &Value) -> Vec<String> {
    let load = &figures["load"];
    let mut lines = vec![format!("machine load: {} before, {} after", load["before"], load["after"])];
    lines.extend(table("tool", figures, "/by_tool"));
    lines.extend(table("application", figures, "/by_application"));
    let all = &figures["actions"];
    lines.push(format!(
        "{} actions: median {} ms, p90 {} ms; over the application's own time: median {} ms, p90 {} ms; {:.1} % of the time \
         in actions over 1 s",
        all["count"],
        ms(&all["p50_ms"]),
        ms(&all["p90_ms"]),
        ms(&all["over_p50_ms"]),
        ms(&all["over_p90_ms"]),
        all["over_1s_share"].as_f64().unwrap_or_default() * 100.0
    ));
    lines.push(format!(
        "{} of them judged: {} false `seen`, {} missed, {} `seen` with an unrelated proof, {} did more than was meant",
        figures["judged"],
        figures["false_seen"],
        figures["missed"],
        figures["unrelated_seen"],
        list(figures, "/damage").count()
    ));
    for kind in ["false_seen", "missed", "unrelated_seen"] {
        lines.extend(list(figures, &format!("/wrong/{kind}")).map(|one| format!("{kind}: {}", text(one))));
    }
    lines.extend(list(figures, "/damage").map(|one| format!("damage: {}", text(one))));
    lines.extend(list(figures, "/slow").map(|one| {
        format!(
            "{} ms, {} of them the application's own ({} inputs, {} changes, {} ms of processor time): {}",
            one["ms"],
            one["own_ms"],
            one["inputs"],
            one["changes"],
            one["processor_ms"],
            text(&one["action"])
        )
    }));
    lines.extend(list(figures, "/restarts").map(|one| format!("started again: {}", text(one))));
    lines.extend(entries(figures, "/skipped").map(|(what, count)| format!("skipped {count} times: {what}")));
    lines.extend(list(figures, "/not_installed").map(|one| {
        let (name, toolkit, package) =
            (text(&one["application"]), text(&one["toolkit"]), text(&one["package"]));
        format!("not installed: {name} ({toolkit}, package {package})")
    }));
    lines
}

/// Counts, times and verdicts by tool or application.
fn table(what: &str, figures: &Value, path: &str) -> Vec<String> {
    let head = format!(
        "{what:<24} {:>5} {:>7} {:>7} {:>9} {:>9}  verdicts",
        "count", "p50", "p90", "over p50", "over p90"
    );
    let rows = entries(figures, path).map(|(name, of)| {
        format!(
            "{name:<24} {:>5} {:>7} {:>7} {:>9} {:>9}  {}",
            of["count"],
            ms(&of["p50_ms"]),
            ms(&of["p90_ms"]),
            ms(&of["over_p50_ms"]),
            ms(&of["over_p90_ms"]),
            of["verdicts"]
        )
    });
    [head].into_iter().chain(rows).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list<'v>(figures: &'v Value, path: &str) -> impl Iterator<Item = &'v Value> {
    figures.pointer(path).and_then(Value::as_array).into_iter().flatten()
}

fn entries<'v>(figures: &'v Value, path: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    figures.pointer(path).and_then(Value::as_object).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn wrong_verdicts_slow_actions_and_missing_packages_are_named() {
        let times = json!({ "count": 3, "p50_ms": 80.2, "p90_ms": 1200.0, "over_p50_ms": 41.0, "over_p90_ms": 300.0, "verdicts": { "seen": 3 } });
        let mut actions = times.clone();
        actions["over_1s_share"] = json!(0.25);
        let figures = json!({
            "actions": actions,
            "by_tool": { "visit": times },
            "false_seen": 1, "missed": 0, "unrelated_seen": 0, "judged": 3,
            "wrong": { "false_seen": ["qt visit: seen"] },
            "slow": [{ "ms": 1200.0, "own_ms": 900.0, "inputs": 2, "changes": 7, "processor_ms": 650, "action": "calc visit" }],
            "not_installed": [{ "application": "gedit", "toolkit": "GTK 3", "package": "gedit" }],
            "load": { "before": 0.5, "after": 1.25 },
        });
        let lines = lines(&figures).join("\n");
        for part in [
            " 3      80    1200        41       300  {\"seen\":3}",
            "25.0 % of the time in actions over 1 s",
            "false_seen: qt visit: seen",
            "650 ms of processor time): calc visit",
            "not installed: gedit (GTK 3, package gedit)",
        ] {
            assert!(lines.contains(part), "{part} in\n{lines}");
        }
    }
}
