//! Measures what readers of text in pictures (OCR) find in windows of real programs, and how long they take; run by
//! `cargo xtask bench ocr`.
//!
//! Each program runs on a private desktop. What is drawn in its window is known from its accessibility tree, or from what it was told
//! to show. Every reader looks at the window as it is, and again after a small change of it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints")]

mod programs;
mod reading;
mod truth;

use std::{error::Error, path::PathBuf, time::Instant};

use serde_json::{Map, Value, json};

/// Any error.
type Failure = Box<dyn Error + Send + Sync>;

/// What to measure.
struct Options {
    /// The archive of the model.
    model: PathBuf,
    /// The programs; all if empty.
    only: Vec<String>,
    /// Where pictures, what is drawn and what was read are written.
    keep: Option<PathBuf>,
}

fn options() -> Result<Options, Failure> {
    let mut arguments = std::env::args().skip(1);
    let model = arguments.next().ok_or("the first argument is the archive of the model")?.into();
    let mut options = Options { model, only: Vec::new(), keep: None };
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
        match argument.as_str() {
            "--only" if programs::ALL.iter().any(|one| one.name == value) => options.only.push(value),
            "--only" => {
                let names: Vec<&str> = programs::ALL.iter().map(|one| one.name).collect();
                return Err(format!("unknown window `{value}`; windows: {}", names.join(", ")).into());
            }
            "--keep" => options.keep = Some(value.into()),
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
    let mut windows = Map::new();
    for program in programs::ALL {
        if !options.only.is_empty() && !options.only.iter().any(|one| one == program.name) {
            continue;
        }
        eprint!("{} …", program.name);
        let begun = Instant::now();
        let figures = match reading::measure(program, &options.model, options.keep.as_deref()).await {
            Ok(figures) => figures,
            Err(error) => json!({ "missing": error.to_string() }),
        };
        windows.insert(program.name.to_owned(), figures);
        eprintln!(" {:.0} s", begun.elapsed().as_secs_f64());
    }
    println!(
        "{}",
        json!({ "windows": Value::Object(windows), "load": { "before": load_before, "after": load() } })
    );
    Ok(())
}
