//! `cargo xtask bench table`: how long a page of many stored sessions takes.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::Value;

use xtask::{console, workspace};

/// The longest time of a page, in milliseconds, at the 95th percentile.
const PAGE_MS_MAX: f64 = 300.0;

#[derive(Args)]
pub(crate) struct TableArguments {
    /// Number of stored sessions.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    sessions: u32,
    /// Keep the sessions in this folder for the next time.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Measure a build without optimisations, which takes less time to build.
    #[arg(long)]
    debug: bool,
    /// Write the results as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the benchmark, prints the figures as JSON, and fails if a page takes too long with a built index.
pub(crate) fn run(arguments: &TableArguments) -> Result<ExitCode> {
    let mut command = workspace::cargo();
    command.args(["run", "--quiet", "--package", "deskhand-runtime", "--example", "table_bench"]);
    if !arguments.debug {
        command.arg("--release");
    }
    command.arg("--").arg(arguments.sessions.to_string()).args(&arguments.folder);
    console::progress("building, storing sessions and measuring …");
    let output =
        command.stderr(std::process::Stdio::inherit()).output().context("start the measuring program")?;
    if !output.status.success() {
        bail!("the measuring program failed");
    }
    let figures: Value = serde_json::from_slice(&output.stdout).context("parse the results")?;
    console::result(&serde_json::to_string_pretty(&figures)?);
    console::write_figures(arguments.json.as_deref(), &figures)?;
    let slow = too_slow(&figures)?;
    slow.iter().for_each(|problem| console::result(problem));
    Ok(if slow.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The ways of asking that take too long.
fn too_slow(figures: &Value) -> Result<Vec<String>> {
    let mut slow = Vec::new();
    for name in ["warm_ms", "kept_ms"] {
        let time = figures.get(name).and_then(|spread| spread.get("p95")).and_then(Value::as_f64);
        let time = time.with_context(|| format!("find {name} in the results"))?;
        if time > PAGE_MS_MAX {
            slow.push(format!(
                "{name}: {time:.0} ms at the 95th percentile, the limit is {PAGE_MS_MAX:.0} ms"
            ));
        }
    }
    Ok(slow)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::too_slow;

    #[test]
    fn a_slow_page_is_a_failure() {
        let figures = |warm: f64, kept: f64| json!({"warm_ms": {"p95": warm}, "kept_ms": {"p95": kept}});
        assert_eq!(too_slow(&figures(299.0, 10.0)).unwrap(), Vec::<String>::new());
        let slow = too_slow(&figures(10.0, 301.0)).unwrap();
        assert!(slow.len() == 1 && slow[0].starts_with("kept_ms: 301 ms"), "{slow:?}");
        assert!(too_slow(&json!({})).is_err());
    }
}
