//! Measures speed and accuracy of perception and prints the results as JSON; run by `cargo xtask bench perception`.
//!
//! Everything runs once on private desktops, so that ratios are comparable on a busy machine.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints")]
#![expect(clippy::indexing_slicing, reason = "indexing JSON objects inserts missing keys")]

mod answering;
mod edits;
mod pictures;
mod stage;
mod step;
mod tokens;
mod trees;

use std::{error::Error, path::PathBuf, time::Instant};

use serde_json::{Value, json};

use crate::stage::Application;

/// Any error.
type Failure = Box<dyn Error + Send + Sync>;

/// What to measure.
struct Options {
    /// The number of edits for the consistency check of Calc's mirror.
    edits: usize,
    /// The applications; all if empty.
    only: Vec<String>,
    /// Passed to the Python walk.
    python: PathBuf,
}

fn options() -> Result<Options, Failure> {
    let python = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/perception/walk.py"));
    let mut options = Options { edits: 1_000, only: Vec::new(), python };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
        match argument.as_str() {
            "--edits" => options.edits = value.parse()?,
            "--only" if Application::ALL.iter().any(|one| one.name() == value) => options.only.push(value),
            "--only" => {
                let names = Application::ALL.map(Application::name).join(", ");
                return Err(format!("unknown window `{value}`; windows: {names}").into());
            }
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    Ok(options)
}

/// The load average of the last minute.
fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let options = options()?;
    let load_before = load();
    let mut perception = serde_json::Map::new();
    let mut result = json!({});
    for application in Application::ALL {
        let name = application.name();
        if !options.only.is_empty() && !options.only.iter().any(|one| one == name) {
            continue;
        }
        eprint!("{name} …");
        let begun = Instant::now();
        match measure(application, &options, &mut result).await {
            Ok(figures) => perception.insert(name.to_owned(), figures),
            Err(error) => perception.insert(name.to_owned(), json!({ "missing": error.to_string() })),
        };
        eprintln!(" {:.0} s", begun.elapsed().as_secs_f64());
    }
    result["perception"] = Value::Object(perception);
    result["load"] = json!({ "before": load_before, "after": load() });
    println!("{result}");
    Ok(())
}

/// Runs all measurements of one application.
async fn measure(application: Application, options: &Options, result: &mut Value) -> Result<Value, Failure> {
    let stage = stage::Stage::start(application).await?;
    let mut figures = trees::measure(&stage, &options.python).await?;
    figures["answering"] = answering::measure(&stage, application.harmless_key()).await?;
    match application {
        Application::Gtk3 => result["idle"] = trees::idle(&stage).await?,
        Application::Calc => {
            result["pictures"] = pictures::measure(&stage).await?;
            tokens::calc(&stage, result).await?;
            result["step"] = step::measure(&stage).await?;
            figures["edits"] = edits::measure(&stage, options.edits).await?;
        }
        Application::Writer => tokens::writer(&stage, result).await?,
        Application::Gtk4
        | Application::Qt
        | Application::Chromium
        | Application::Gtk3List
        | Application::QtList => {}
    }
    stage.desktop.shut_down().await;
    Ok(figures)
}

/// The median.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
