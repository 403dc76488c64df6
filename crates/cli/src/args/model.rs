//! Arguments of `deskhand model`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::ModelArgs;

#[derive(Debug, Args)]
pub(crate) struct ModelCommandArgs {
    #[command(subcommand)]
    pub(crate) command: ModelCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// List the models of a provider, or of all providers that can be used here: the configured one, those whose API key is in the
    /// environment, and servers on this machine.
    #[command(after_help = LIST_EXAMPLES)]
    List(ModelListArgs),
    /// Ask a model two small questions, and say what it can: reply in a given form, see pictures.
    #[command(after_help = TEST_EXAMPLES)]
    Test(ModelTestArgs),
    /// Show what a cassette holds: each request to a model that was recorded with `--cassette record:FILE`, and what came back.
    #[command(after_help = CASSETTE_EXAMPLES)]
    Cassette(ModelCassetteArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ModelListArgs {
    /// The provider, such as `anthropic`; without one, all that can be used here.
    #[arg(value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    /// Print one line of JSON per model.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ModelTestArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ModelCassetteArgs {
    /// The cassette.
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}

const CASSETTE_EXAMPLES: &str = "\
Examples:
  deskhand run \"…\" --cassette record:wire.jsonl
  deskhand model cassette wire.jsonl
  deskhand run \"…\" --cassette play:wire.jsonl     the same replies, without the model";

const LIST_EXAMPLES: &str = "\
Examples:
  deskhand model list                      what this machine can use
  deskhand model list ollama
  deskhand model list openai --base-url http://127.0.0.1:8000/v1";

const TEST_EXAMPLES: &str = "\
Examples:
  deskhand model test                      the configured model
  deskhand model test --model anthropic:MODEL";
