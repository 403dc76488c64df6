//! Arguments of `deskhand policy`.

use clap::{Args, Subcommand};

use super::{StoreArgs, settings::PolicyFileArgs};

const EXAMPLES: &str = "\
The commands of a recorded session are judged offline by today's rules: those of the
configuration, or of a file. What an agent would have done after another decision is not known.

Examples:
  deskhand policy explain last      every command, its decision, and what rules are matched with
  deskhand policy test last         only what would be decided otherwise; exit code 1 if anything
  deskhand policy test 0196f --policy strict.toml

A file of rules has the keys of `[policy]`: safe_guard, and [[rules]].";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Explain how each command of a session is decided.
    Explain(PolicyReviewArgs),
    /// Show what would be decided otherwise than in the session.
    Test(PolicyReviewArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PolicyReviewArgs {
    /// Session: its id, the start or end of the id, or `last`.
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) policy: PolicyFileArgs,
    /// Print JSON, one line for each command.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
