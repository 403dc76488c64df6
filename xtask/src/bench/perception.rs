//! Builds and runs the program that measures perception, and lays out what it found.

use std::{
    fs,
    path::PathBuf,
    process::{ExitCode, Stdio},
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::{console, workspace::cargo};

/// The options of `cargo xtask bench perception`.
#[derive(Args)]
pub(crate) struct PerceptionArguments {
    /// Write the figures to this file as well, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// How many random edits the mirror of Calc is held against.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    edits: usize,
    /// Measure this application only (`calc`, `gtk3`, …); can be given more than once.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

/// Measures and prints.
pub(crate) fn run(arguments: &PerceptionArguments) -> Result<ExitCode> {
    console::progress("building for release …");
    let mut command = cargo();
    command.args(["run", "--release", "--quiet", "--package", "deskhand-runtime", "--example", "perception"]);
    command.args(["--", "--edits", &arguments.edits.to_string()]);
    for name in &arguments.only {
        command.args(["--only", name]);
    }
    let output = command.stderr(Stdio::inherit()).output().context("run the measuring program")?;
    ensure!(output.status.success(), "the measuring program failed ({})", output.status);
    let figures: Value = serde_json::from_slice(&output.stdout).context("read what was measured")?;
    for line in lines(&figures) {
        console::result(&line);
    }
    if let Some(file) = &arguments.json {
        let text = serde_json::to_string_pretty(&figures)?;
        fs::write(file, text + "\n").with_context(|| format!("write {}", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A figure with two digits after the point, `-` where there is none.
fn number(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if number.fract() == 0.0 => format!("{number:.0}"),
        Some(number) => format!("{number:.2}"),
        None => "-".to_owned(),
    }
}

/// What stands at a path; null where nothing does.
fn at<'v>(figures: &'v Value, path: &str) -> &'v Value {
    figures.pointer(path).unwrap_or(&Value::Null)
}

/// The figures as people read them.
fn lines(figures: &Value) -> Vec<String> {
    let mut lines = vec![
        format!(
            "load of the machine: {} before, {} after",
            number(at(figures, "/load/before")),
            number(at(figures, "/load/after"))
        ),
        String::new(),
        "trees, in milliseconds (medians; first: the first look, naive: one call after the other)".to_owned(),
        format!(
            "{:<10} {:>6} {:>8} {:>8} {:>8} {:>9} {:>9} {:>12} {:>13} {:>6}",
            "window",
            "nodes",
            "first",
            "mirror",
            "seed",
            "naive",
            "pyatspi",
            "naive/mirror",
            "worst answer",
            "wrong"
        ),
    ];
    for (name, of) in figures["perception"].as_object().into_iter().flatten() {
        if let Some(reason) = of["missing"].as_str() {
            lines.push(format!("{name:<10} not measured: {reason}"));
            continue;
        }
        lines.push(format!(
            "{name:<10} {:>6} {:>8} {:>8} {:>8} {:>9} {:>9} {:>12} {:>13} {:>6}",
            number(&of["nodes"]),
            number(&of["first_ms"]),
            number(&of["mirror_ms"]),
            number(&of["seed_ms"]),
            number(&of["naive_ms"]),
            number(&of["pyatspi_ms"]),
            number(&of["naive_to_mirror"]),
            number(&of["slowest_answer_ms"]),
            number(&of["differences"]),
        ));
    }
    lines.push(String::new());
    let (step, idle) = (&figures["step"], &figures["idle"]);
    lines.push(format!(
        "whole step without its model: {} ms without a picture, {} ms with one (medians)",
        number(&step["text_p50_ms"]),
        number(&step["picture_p50_ms"])
    ));
    lines.push(format!(
        "a click without effect is known as that after {} ms (median), {} ms (longest)",
        number(&idle["noop_p50_ms"]),
        number(&idle["noop_max_ms"])
    ));
    let pictures = &figures["pictures"];
    lines.push(format!(
        "picture of the screen: {} ms to take, {} ms to encode, {} bytes",
        number(&pictures["capture_ms"]),
        number(&pictures["encode_ms"]),
        number(&pictures["bytes"])
    ));
    let tokens = &figures["tokens"];
    for (name, what) in [("calc", "one edited cell"), ("writer", "one opened dialog")] {
        lines.push(format!(
            "tokens in {name}: first view {}, whole later {}, what changed by {what} {} ({} times fewer)",
            number(&tokens[format!("{name}_first")]),
            number(&tokens[format!("{name}_full")]),
            number(&tokens[format!("{name}_diff")]),
            number(&tokens[format!("{name}_full_to_diff")]),
        ));
    }
    let edits = at(figures, "/perception/calc/edits");
    if let Some(differences) = edits["differences"].as_array() {
        lines.push(format!(
            "mirror of calc after {} random edits: {} differences in {} comparisons with a fresh walk",
            number(&edits["count"]),
            differences.len(),
            number(&edits["checks"])
        ));
        lines.extend(differences.iter().map(ToString::to_string));
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_could_not_be_measured_says_why() {
        let figures = json!({
            "perception": { "qt": { "missing": "no python3-pyqt5" }, "calc": { "nodes": 210, "mirror_ms": 1.5, "naive_ms": 350.0, "naive_to_mirror": 233.3 } },
            "load": { "before": 0.5, "after": 1.25 },
        });
        let lines = lines(&figures).join("\n");
        assert!(lines.contains("qt         not measured: no python3-pyqt5"), "{lines}");
        assert!(lines.contains("233.30") && lines.contains("load of the machine: 0.50 before"), "{lines}");
    }
}
