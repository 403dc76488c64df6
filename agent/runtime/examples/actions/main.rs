//! Measures and judges actions as agents take them, by the names of their tools, on fixtures and real applications; run
//! by `cargo xtask bench actions`.
//!
//! An observer process tells when input went out and what changed; oracles that share no code with the product tell what
//! truly happened.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints")]
#![expect(clippy::indexing_slicing, reason = "indexing JSON values never fails")]

mod suite;

use std::time::Instant;

use serde_json::json;

use crate::suite::{APPLICATIONS, Dice, Failure, Measured, play};

/// What to play.
struct Options {
    actions: usize,
    seed: u64,
    only: Vec<String>,
    real: bool,
    tells_all: bool,
}

fn options() -> Result<Options, Failure> {
    let mut options = Options { actions: 300, seed: 1, only: Vec::new(), real: false, tells_all: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--real" {
            options.real = true;
            continue;
        }
        if argument == "--all" {
            options.tells_all = true;
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
        match argument.as_str() {
            "--actions" => options.actions = value.parse()?,
            "--seed" => options.seed = value.parse()?,
            "--only" if APPLICATIONS.iter().any(|one| one.name == value) => options.only.push(value),
            "--only" => {
                let names: Vec<&str> = APPLICATIONS.iter().map(|one| one.name).collect();
                let names = names.join(", ");
                return Err(format!("unknown application `{value}`; applications: {names}").into());
            }
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    Ok(options)
}

impl Options {
    fn wants(&self, name: &str, real: bool) -> bool {
        if self.only.is_empty() { self.real || !real } else { self.only.iter().any(|only| only == name) }
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let options = options()?;
    let mut measured = Measured::start();
    measured.tells_all = options.tells_all;
    let mut present = Vec::new();
    for application in APPLICATIONS.iter().filter(|one| options.wants(one.name, one.real)) {
        if application.is_installed() {
            present.push(application);
        } else {
            measured.missing.push(json!({
                "application": application.name,
                "toolkit": application.toolkit,
                "package": application.package,
            }));
        }
    }
    let share = options.actions.div_ceil(present.len().max(1));
    for (at, application) in present.into_iter().enumerate() {
        let begun = Instant::now();
        let mut dice = Dice::new(options.seed.wrapping_mul(1_000).wrapping_add(at as u64));
        let played = play(application, &mut dice, share, &mut measured).await;
        eprintln!("{}: {played} actions in {:.0} s", application.name, begun.elapsed().as_secs_f64());
    }
    println!("{}", measured.to_json());
    Ok(())
}
