//! Types a greeting into an editor on a private virtual desktop. A script plays the model; put
//! `deskhand_model::OpenAi` in its place for a real one.
#![expect(clippy::print_stdout, reason = "the example shows how the request ended")]

use std::{collections::BTreeMap, error::Error, path::Path};

use deskhand_desktop_linux::{LinuxDesktop, VirtualOptions};
use deskhand_example_embed::carry_out;
use deskhand_model::Script;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let script = include_str!("greeting.script.toml");
    let model = Script::parse("greeting.script.toml", script, BTreeMap::new())?;
    let desktop = LinuxDesktop::start_virtual(VirtualOptions::default()).await?;
    let end = carry_out("Write a greeting", &desktop, &model, Path::new("target/embedded-sessions")).await;
    desktop.shut_down().await;
    let end = end?;
    if let Some(outcome) = end.outcome {
        println!("{}: {}\n{}", outcome.kind, outcome.reason, end.folder.path().display());
    }
    Ok(())
}
