//! Arguments of the commands about the program itself: doctor, agents, states, config, completions, man.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use super::{ModelArgs, ScriptArgs, SettingArgs};

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Also ask the model a short question; costs a few tokens.
    #[arg(long)]
    pub(crate) ask: bool,
    /// Install the extension of GNOME Shell that lists the windows of the desktop you sit at, and check nothing.
    #[arg(long, conflicts_with_all = ["ask", "json"])]
    pub(crate) gnome_extension: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) script: ScriptArgs,
}

/// Arguments of `deskhand agents`.
#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    /// Print one line of JSON per agent.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatesArgs {
    /// Output format.
    #[arg(long, value_enum, default_value_t = StatesFormat::Table)]
    pub(crate) format: StatesFormat,
}

/// The format of state machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatesFormat {
    /// Markdown tables of the transitions.
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
    /// Explain a key: its value, where the value comes from, and what it means. Without a key, list all of them.
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(Box<ExplainArgs>),
    /// Print the path of the configuration file.
    Path,
    /// Write a configuration file to fill in. An existing file is left alone.
    Init,
    /// Print the JSON schema of the configuration file.
    Schema,
}

const EXPLAIN_EXAMPLES: &str = "\
A value comes from a flag, else an environment variable, else the file, else the default. The flags
are those of `deskhand run`: add them to see what a run would use.

Examples:
  deskhand config explain                  every key with its value
  deskhand config explain limits.steps_max
  deskhand config explain model.model --model openai:gpt-5-mini";

/// Arguments of `deskhand config explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Key to explain, such as `model.base_url`.
    pub(crate) key: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

/// Arguments of `deskhand completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete for [default: from the environment variable SHELL].
    #[arg(value_enum)]
    pub(crate) shell: Option<Shell>,
}

/// Arguments of `deskhand man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder to write to; created if missing.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
}
