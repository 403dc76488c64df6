//! `cargo xtask bench ocr`: what readers of text in pictures find in windows of real programs, and how long they take.

use std::{
    fs,
    path::PathBuf,
    process::{ExitCode, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::{Value, json};

use xtask::{
    console,
    product::{self, Build},
    wheels,
    workspace::cargo,
};

/// The readers, with the names of their figures.
const READERS: [&str; 2] = ["pp-ocr", "tesseract"];

/// Options of `cargo xtask bench ocr`.
#[derive(Args)]
pub(crate) struct OcrArguments {
    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Look at this window only; repeatable.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Write the pictures, what is drawn in them and what was read into this folder.
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// The archive of another model.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
}

/// Runs the benchmark and prints the results.
pub(crate) fn run(arguments: &OcrArguments) -> Result<ExitCode> {
    wheels::ensure_downloaded()?;
    let model = match &arguments.model {
        Some(model) => model.clone(),
        None => wheels::ocr_model()?,
    };
    let local = product::built_program("deskhand-local", Build::Release)?;
    let programs = local.parent().context("find the folder of the program")?;
    let mut command = cargo();
    command.env("DESKHAND_PROGRAMS", programs);
    command.args(["run", "--release", "--quiet", "--package", "deskhand-runtime", "--example", "ocr", "--"]);
    command.arg(fs::canonicalize(&model).with_context(|| format!("find {}", model.display()))?);
    for name in &arguments.only {
        command.args(["--only", name]);
    }
    if let Some(keep) = &arguments.keep {
        command.arg("--keep").arg(std::path::absolute(keep).context("find the folder")?);
    }
    let output = command.stderr(Stdio::inherit()).output().context("run the benchmark program")?;
    ensure!(output.status.success(), "the benchmark program failed ({})", output.status);
    let mut figures: Value = serde_json::from_slice(&output.stdout).context("parse the results")?;
    let summary: Value = READERS
        .iter()
        .map(|reader| ((*reader).to_owned(), summary(&figures, reader)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    if let Some(figures) = figures.as_object_mut() {
        figures.insert("summary".to_owned(), summary);
    }
    for line in lines(&figures) {
        console::result(&line);
    }
    console::write_figures(arguments.json.as_deref(), &figures)?;
    Ok(ExitCode::SUCCESS)
}

/// All windows of one reader together.
fn summary(figures: &Value, reader: &str) -> Value {
    let looks: Vec<&Value> = windows(figures).filter_map(|(_, window)| window.get(reader)).collect();
    let sum = |key: &str| looks.iter().filter_map(|look| look.get(key)?.as_f64()).sum::<f64>();
    let (right, drawn, read) = (sum("right"), sum("drawn"), sum("read"));
    let middle = |key: &str| median(looks.iter().filter_map(|look| look.get(key)?.as_f64()).collect());
    let greatest = looks.iter().filter_map(|look| look.get("later_ms")?.as_f64()).fold(0.0, f64::max);
    json!({
        "windows": looks.len(), "words": drawn, "recall": right / drawn, "precision": right / read,
        "first_ms": middle("first_ms"), "later_ms": middle("later_ms"), "later_ms_max": greatest,
        "later_to_first": middle("later_ms") / middle("first_ms"),
    })
}

fn windows(figures: &Value) -> impl Iterator<Item = (&String, &Value)> {
    figures.get("windows").and_then(Value::as_object).into_iter().flatten()
}

/// The results as lines for a person.
fn lines(figures: &Value) -> Vec<String> {
    let share = |look: &Value, of: &str| {
        let number = |key: &str| look.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN);
        100.0 * number("right") / number(of)
    };
    let mut lines = vec![format!(
        "{:<18} {:>5}  {:<10} {:>7} {:>9} {:>9} {:>9}",
        "window", "words", "reader", "recall", "precision", "first", "later"
    )];
    for (name, window) in windows(figures) {
        if let Some(missing) = window.get("missing").and_then(Value::as_str) {
            lines.push(format!("{name:<18} left out: {missing}"));
        }
        let words = window.get("words").and_then(Value::as_u64).unwrap_or(0);
        for (reader, look) in READERS.iter().filter_map(|reader| Some((*reader, window.get(reader)?))) {
            let ms = |key: &str| look.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN);
            lines.push(format!(
                "{name:<18} {words:>5}  {reader:<10} {:>5.1} % {:>7.1} % {:>6.0} ms {:>6.0} ms",
                share(look, "drawn"),
                share(look, "read"),
                ms("first_ms"),
                ms("later_ms"),
            ));
        }
    }
    for reader in READERS {
        let Some(summary) = figures.pointer(&format!("/summary/{reader}")) else { continue };
        let number = |key: &str| summary.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN);
        lines.push(format!(
            "{reader}: {} words in {} windows; recall {:.1} %, precision {:.1} %; first look {:.0} ms, later {:.0} ms (at most {:.0} ms), \
             {:.2} of the first",
            number("words"),
            number("windows"),
            100.0 * number("recall"),
            100.0 * number("precision"),
            number("first_ms"),
            number("later_ms"),
            number("later_ms_max"),
            number("later_to_first"),
        ));
    }
    lines
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_all_windows_count_alike() {
        let look = |right: u32, drawn: u32, first: f64, later: f64| json!({"pp-ocr": {"right": right, "drawn": drawn, "read": drawn, "first_ms": first, "later_ms": later}});
        let figures = json!({"windows": {
            "a": look(9, 10, 100.0, 20.0), "b": look(90, 90, 300.0, 30.0), "c": {"missing": "no window"}
        }});
        let summary = summary(&figures, "pp-ocr");
        assert_eq!(summary["recall"], 0.99);
        assert_eq!((&summary["windows"], &summary["later_ms_max"]), (&json!(2), &json!(30.0)));
        assert!(lines(&figures).iter().any(|line| line.contains("left out: no window")));
    }
}
