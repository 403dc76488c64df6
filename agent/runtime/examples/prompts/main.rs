//! Measures the prompts of recorded sessions, for `cargo xtask bench prompts`. Argument: the folder of the recordings. Prints JSON, all
//! together last; with the name of a recording, the last prompt of it.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a command line tool prints; a broken recording ends it"
)]

mod measure;

use std::path::Path;

use measure::{Measured, measure, recordings};

fn main() {
    let folder = std::env::args().nth(1).expect("the folder of the recordings");
    if let Some(name) = std::env::args().nth(2) {
        println!("{}", measure(&Path::new(&folder).join(format!("{name}.jsonl.gz"))).last);
        return;
    }
    let mut measured: Vec<Measured> =
        recordings(Path::new(&folder)).iter().map(|file| measure(file)).collect();
    measured.push(Measured::all(&measured));
    println!("{}", serde_json::to_string(&measured).expect("figures are JSON"));
}
