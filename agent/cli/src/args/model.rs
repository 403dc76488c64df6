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
    /// List the models of a provider, or of all providers that can be used here: the configured one, pulled models, those whose API key
    /// is in the environment, and servers on this machine.
    #[command(after_help = LIST_EXAMPLES)]
    List(ModelListArgs),
    /// Ask a model two small questions, and say what it can: reply in a given form, see pictures.
    #[command(after_help = TEST_EXAMPLES)]
    Test(ModelTestArgs),
    /// Show what a cassette holds: each request to a model that was recorded with `--cassette record:FILE`, and what came back.
    #[command(after_help = CASSETTE_EXAMPLES)]
    Cassette(ModelCassetteArgs),
    /// Get a model that runs on this machine, and a server for it, if no `llama-server` is found. `deskhand model list local` shows
    /// which there are. A pull that was interrupted goes on where it was.
    #[command(after_help = PULL_EXAMPLES)]
    Pull(ModelNameArgs),
    /// Remove the files of a model that was pulled.
    Remove(ModelNameArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ModelNameArgs {
    /// The model, such as `smollm2-135m`, or one of `local_models` in the configuration.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
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
  deskhand model list local                which models can be pulled, and which are
  deskhand model list ollama
  deskhand model list openai --base-url http://127.0.0.1:8000/v1";

const TEST_EXAMPLES: &str = "\
Examples:
  deskhand model test                      the configured model
  deskhand model test --model anthropic:MODEL";

const PULL_EXAMPLES: &str = "\
Examples:
  deskhand model pull smollm2-135m
  deskhand run --model local:smollm2-135m \"Make a chart of the sales table\" --open sales.ods";
