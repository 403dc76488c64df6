//! Builds and runs the perception benchmark and formats its results.

use std::{
    fs,
    path::PathBuf,
    process::{ExitCode, Stdio},
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use xtask::{console, workspace::cargo};

/// Options of `cargo xtask bench perception`.
#[derive(Args)]
pub(crate) struct PerceptionArguments {
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Number of random edits for the consistency check of Calc's mirror.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    edits: usize,
    /// Number of random actions on fixture applications to judge; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    actions: u32,
    /// Number of desktops per toolkit to spread these actions over.
    #[arg(long, value_name = "N", default_value_t = 2)]
    lanes: u32,
    /// Measure only this window (gtk3, gtk4, qt, chromium, gtk3_list, qt_list, writer, calc); repeatable.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

/// Runs the benchmark and prints the results.
pub(crate) fn run(arguments: &PerceptionArguments) -> Result<ExitCode> {
    console::progress("building for release …");
    build(arguments.actions > 0)?;
    let mut command = cargo();
    command.args(["run", "--release", "--quiet", "--package", "deskhand-runtime", "--example", "perception"]);
    command.args(["--", "--edits", &arguments.edits.to_string()]);
    for name in &arguments.only {
        command.args(["--only", name]);
    }
    let output = command.stderr(Stdio::inherit()).output().context("run the benchmark program")?;
    ensure!(output.status.success(), "the benchmark program failed ({})", output.status);
    let mut figures: Value = serde_json::from_slice(&output.stdout).context("parse the results")?;
    if arguments.actions > 0
        && let Some(object) = figures.as_object_mut()
    {
        object.insert("effects".to_owned(), effects(arguments)?);
    }
    for line in lines(&figures) {
        console::result(&line);
    }
    console::write_figures(arguments.json.as_deref(), &figures)?;
    Ok(ExitCode::SUCCESS)
}

/// Builds everything first, so that no compiler runs during measurements.
fn build(with_effects: bool) -> Result<()> {
    const MEASURING: &[&str] =
        &["build", "--release", "--quiet", "--package", "deskhand-runtime", "--example", "perception"];
    let mut builds = vec![MEASURING];
    if with_effects {
        builds.push(EFFECTS);
    }
    for arguments in builds {
        let status = cargo().args(arguments).args(with_no_run(arguments)).status().context("start cargo")?;
        ensure!(status.success(), "failed to build the benchmark programs");
    }
    Ok(())
}

/// The command for the suite of random actions.
const EFFECTS: &[&str] =
    &["test", "--release", "--quiet", "--package", "deskhand-desktop-linux", "--test", "it"];

fn with_no_run(arguments: &[&str]) -> Option<&'static str> {
    (arguments.first() == Some(&"test")).then_some("--no-run")
}

/// Runs the suite of random actions and returns its counts. Wrong verdicts are results, not failures.
fn effects(arguments: &PerceptionArguments) -> Result<Value> {
    console::progress(&format!("{} random actions …", arguments.actions));
    let folder = tempfile::tempdir().context("create a folder")?;
    let file = folder.path().join("effects.json");
    let output = cargo()
        .args(EFFECTS)
        .args(["--", "--exact", "effects::every_effect_is_seen_and_none_is_claimed_that_did_not_happen"])
        .arg("--nocapture")
        .env("DESKHAND_EFFECT_ACTIONS", arguments.actions.to_string())
        .env("DESKHAND_EFFECT_LANES", arguments.lanes.max(1).to_string())
        .env("DESKHAND_EFFECT_JSON", &file)
        .stderr(Stdio::inherit())
        .output()
        .context("run the suite of random actions")?;
    let text = fs::read_to_string(&file).with_context(|| {
        let log = String::from_utf8_lossy(&output.stdout);
        format!("read the counts of the random actions; its output: {}", log.trim())
    })?;
    let counted: Value = serde_json::from_str(&text).context("parse the counts of the random actions")?;
    if !output.status.success() {
        console::problem(String::from_utf8_lossy(&output.stdout).trim());
    }
    Ok(at(&counted, "/effects").clone())
}

/// A figure with two decimals, `-` if missing.
fn number(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if number.fract() == 0.0 => format!("{number:.0}"),
        Some(number) => format!("{number:.2}"),
        None => "-".to_owned(),
    }
}

/// The value at a path; null if missing.
fn at<'v>(figures: &'v Value, path: &str) -> &'v Value {
    figures.pointer(path).unwrap_or(&Value::Null)
}

/// The results as text.
fn lines(figures: &Value) -> Vec<String> {
    let load = format!(
        "machine load: {} before, {} after",
        number(at(figures, "/load/before")),
        number(at(figures, "/load/after"))
    );
    let parts = [vec![load], trees(figures), answers(figures), [steps(figures), truth(figures)].concat()];
    parts.join(&String::new())
}

/// The results by window.
fn windows(figures: &Value) -> impl Iterator<Item = (&String, &Value)> {
    at(figures, "/perception").as_object().into_iter().flatten()
}

/// The cost of observing each window.
fn trees(figures: &Value) -> Vec<String> {
    let mut lines = vec![
        "trees, in milliseconds (medians; first: first observation, naive: sequential calls)".to_owned(),
        format!(
            "{:<10} {:>6} {:>8} {:>8} {:>8} {:>9} {:>9} {:>12} {:>14} {:>6}",
            "window",
            "nodes",
            "first",
            "mirror",
            "seed",
            "naive",
            "pyatspi",
            "naive/mirror",
            "pyatspi/mirror",
            "wrong"
        ),
    ];
    let windows = || windows(figures);
    for (name, of) in windows() {
        if let Some(reason) = of["missing"].as_str() {
            lines.push(format!("{name:<10} not measured: {reason}"));
            continue;
        }
        lines.push(format!(
            "{name:<10} {:>6} {:>8} {:>8} {:>8} {:>9} {:>9} {:>12} {:>14} {:>6}",
            number(&of["nodes"]),
            number(&of["first_ms"]),
            number(&of["mirror_ms"]),
            number(&of["seed_ms"]),
            number(&of["naive_ms"]),
            number(&of["pyatspi_ms"]),
            number(&of["naive_to_mirror"]),
            number(&of["pyatspi_to_mirror"]),
            number(&of["differences"]),
        ));
    }
    for (name, of) in windows() {
        if let Some(reason) = of["pyatspi_missing"].as_str() {
            lines.push(format!("{name}: no pyatspi walk: {reason}"));
        }
    }
    lines
}

/// Whether applications respond to input while they are observed.
fn answers(figures: &Value) -> Vec<String> {
    let mut lines = vec!["input during window reads, in milliseconds".to_owned()];
    lines.push(format!(
        "{:<10} {:>8} {:>9} {:>14} {:>9}",
        "window", "look", "longest", "input handled", "slowest"
    ));
    for (name, of) in windows(figures).filter(|(_, of)| of["missing"].is_null()) {
        let of = &of["answering"];
        lines.push(format!(
            "{name:<10} {:>8} {:>9} {:>14} {:>9}",
            number(&of["observed_ms"]),
            number(&of["observed_max_ms"]),
            number(&of["input_ms"]),
            number(&of["input_max_ms"])
        ));
    }
    lines
}

/// Steps, idle detection and pictures.
fn steps(figures: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let (step, idle) = (&figures["step"], &figures["idle"]);
    lines.push(format!(
        "step without model time: {} ms without a picture, {} ms with one (medians)",
        number(&step["text_p50_ms"]),
        number(&step["picture_p50_ms"])
    ));
    lines.push(format!(
        "no-op click detected after {} ms (median), {} ms (maximum)",
        number(&idle["noop_p50_ms"]),
        number(&idle["noop_max_ms"])
    ));
    let pictures = &figures["pictures"];
    lines.push(format!(
        "screenshot: {} ms to capture, {} ms to encode ({} bytes), {} ms to mark {} controls",
        number(&pictures["capture_ms"]),
        number(&pictures["encode_ms"]),
        number(&pictures["bytes"]),
        number(&pictures["annotate_ms"]),
        number(&pictures["marks"])
    ));
    lines
}

/// Tokens, random edits and random actions.
fn truth(figures: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let tokens = &figures["tokens"];
    for (name, what) in [("calc", "one edited cell"), ("writer", "one opened dialog")] {
        lines.push(format!(
            "tokens in {name}: first view {}, later full view {}, diff after {what} {} ({} times fewer)",
            number(&tokens[format!("{name}_first")]),
            number(&tokens[format!("{name}_full")]),
            number(&tokens[format!("{name}_diff")]),
            number(&tokens[format!("{name}_full_to_diff")]),
        ));
    }
    let edits = at(figures, "/perception/calc/edits");
    if let Some(differences) = edits["differences"].as_array() {
        lines.push(format!(
            "calc mirror after {} random edits: {} differences in {} comparisons with a fresh walk",
            number(&edits["count"]),
            differences.len(),
            number(&edits["checks"])
        ));
        lines.extend(differences.iter().map(ToString::to_string));
    }
    let effects = &figures["effects"];
    if effects.is_object() {
        lines.push(format!(
            "{} random actions in {} s, {} with an effect: {} false `seen`, {} missed; verdicts {}",
            number(&effects["actions"]),
            number(&effects["seconds"]),
            number(&effects["effects"]),
            number(&effects["false_seen"]),
            number(&effects["missed_seen"]),
            effects["verdicts"]
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn missing_measurements_give_the_reason() {
        let figures = json!({
            "perception": { "qt": { "missing": "no python3-pyqt5" }, "calc": { "nodes": 210, "mirror_ms": 1.5, "naive_ms": 350.0, "naive_to_mirror": 233.3 } },
            "load": { "before": 0.5, "after": 1.25 },
        });
        let lines = lines(&figures).join("\n");
        assert!(lines.contains("qt         not measured: no python3-pyqt5"), "{lines}");
        assert!(lines.contains("233.30") && lines.contains("machine load: 0.50 before"), "{lines}");
    }
}
