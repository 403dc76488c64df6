//! Arguments of the commands about the program itself: doctor, agents, states, config, completions, man.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use super::ModelArgs;

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Ask the model one short question, which costs a few tokens.
    #[arg(long)]
    pub(crate) ask: bool,
    /// Write the findings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How the agents are shown.
#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    /// Write a line of JSON for each.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatesArgs {
    /// How to show them.
    #[arg(long, value_enum, default_value_t = StatesFormat::Table)]
    pub(crate) format: StatesFormat,
}

/// How state machines are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatesFormat {
    /// A Markdown table of what leads to another state.
    Table,
    /// Mermaid state diagrams.
    Mermaid,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Explain a key: its value, where that comes from, what it means. Without a key, list all of them.
    Explain {
        /// The key, such as `model.base_url`.
        key: Option<String>,
        /// Write it as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print where the file is.
    Path,
    /// Write a file to fill in, where there is none yet.
    Init,
    /// Print the JSON schema of the file.
    Schema,
}

/// Which completion script is printed.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell; the one that SHELL names when omitted.
    #[arg(value_enum)]
    pub(crate) shell: Option<Shell>,
}

/// Where man pages are written.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder, which is made where it is missing.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
}
