//! Arguments of `deskhand secret`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct SecretArgs {
    #[command(subcommand)]
    pub(crate) command: SecretCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretCommand {
    /// List the configured secrets: where each comes from, and where it may be typed. Reads none.
    List(SecretListArgs),
    /// Read the configured secrets, and say which cannot be used and why. Prints no value.
    Check(SecretCheckArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SecretListArgs {
    /// Print one line of JSON per secret.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SecretCheckArgs {
    /// The secrets; without one, all.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
}
