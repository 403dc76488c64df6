//! How often a model chooses the right window and the right element, for `cargo xtask bench choices`. Arguments: the folder of recorded
//! sessions, how many prompts of each kind to ask at most, and perhaps the one way to ask them and the one kind (`window` or `element`). Asks
//! the configured model in the usual way and in the small-model mode, and prints JSON. The prompts were written before any model had seen them.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::expect_used,
    clippy::panic,
    reason = "a command line tool prints; a broken recording ends it"
)]

mod prompts;
mod table;

use std::path::Path;

use deskhand_host::{Host, config::Sources, local::LocalModels, model::ModelSetup, ranker};
use prompts::{Choice, Kind};
use serde_json::json;
use table::{Mode, Table, ask};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("the folder of the recordings");
    let most = arguments.next().map_or(usize::MAX, |most| most.parse().expect("a number"));
    let only = arguments.next();
    let kinds = match arguments.next().as_deref() {
        None => vec![Kind::Window, Kind::Element],
        Some("window") => vec![Kind::Window],
        Some("element") => vec![Kind::Element],
        Some(other) => panic!("`{other}` is not a kind of choice: give `window` or `element`"),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(measure(Path::new(&folder), most, only.as_deref(), &kinds));
}

async fn measure(recordings: &Path, most: usize, only: Option<&str>, kinds: &[Kind]) {
    let host = Host::load(&Sources::of_user()).expect("a configuration");
    let model = ModelSetup::of(host.config(), Default::default()).expect("models").choice().expect("a model");
    let opened = model.open().expect("a model that can be opened");
    opened.start().await.expect("a server");
    let embedder = LocalModels::of(host.config()).embeddings().map(ranker);
    let choices = prompts::all(recordings);
    let modes = [embedder.as_ref().map(Mode::Embeddings), Some(Mode::Words), Some(Mode::Usual)];
    for mode in modes.into_iter().flatten().filter(|mode| only.is_none_or(|only| only == mode.name())) {
        let mut table = Table::default();
        for &kind in kinds {
            for choice in choices.iter().filter(|choice| choice.kind() == kind).take(most) {
                let asked = ask(&opened.model, choice, mode).await;
                eprintln!("{:<10} {:<60} {}", mode.name(), choice.wanted(), asked.said());
                table.add(kind, &asked);
            }
        }
        println!("{}", json!({"mode": mode.name(), "figures": table}));
    }
    if let Some(embedder) = &embedder {
        let right = |kind: Kind| {
            let of_kind: Vec<&Choice> =
                choices.iter().filter(|choice| choice.kind() == kind).take(most).collect();
            let right = of_kind.iter().filter(|choice| choice.nearest_is_right(embedder)).count();
            json!({"right": right, "of": of_kind.len()})
        };
        println!(
            "{}",
            json!({"mode": "nearest", "figures": {"window": right(Kind::Window), "element": right(Kind::Element)}})
        );
    }
    opened.end().await;
}
