//! The option that trusts a file.

use clap::Args;

/// Trust in a file that says what is done.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct TrustArgs {
    /// Trust the file as it is, until it changes: its texts count as your own words. Look at what it does first.
    #[arg(long)]
    pub(crate) trust: bool,
}
