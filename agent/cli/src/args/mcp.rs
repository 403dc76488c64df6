//! Arguments of `deskhand mcp`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint, builder::PossibleValue};
use deskhand_serve::mcp::ClientKind;

use super::settings::SettingArgs;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
A client starts it as a program and speaks with it over standard input and output:

  deskhand mcp install claude-code         write it into the configuration of a client
  {\"mcpServers\": {\"deskhand\": {\"command\": \"deskhand\", \"args\": [\"mcp\"]}}}

Each desktop that the client starts is a session: `deskhand show`, `report`, `replay` and `verify` work on it.
Documentation: docs/guides/clients.md"
)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    /// Serve over streamable HTTP on the loopback address, instead of standard input; prints address and token.
    #[arg(long)]
    pub(crate) http: bool,
    /// The port; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0, requires = "http")]
    pub(crate) port: u16,
    /// A file whose first line is the token that clients send [default: a new token].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// An origin of pages that may send requests, such as http://localhost:6274; may be repeated.
    #[arg(long, value_name = "URL", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
    /// Minutes without a message after which a client counts as gone and its desktops end.
    #[arg(long, value_name = "MINUTES", default_value_t = IDLE_MINUTES, value_parser = idle_minutes, requires = "http")]
    pub(crate) idle_minutes: f64,
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

/// Default idle time of a client, in minutes.
const IDLE_MINUTES: f64 = 30.0;

fn idle_minutes(text: &str) -> Result<f64, String> {
    const MAX: f64 = 7.0 * 24.0 * 60.0;
    text.parse()
        .ok()
        .filter(|minutes| *minutes > 0.0 && *minutes <= MAX)
        .ok_or_else(|| format!("not a number of minutes, more than 0 and at most {MAX}"))
}

/// Subcommands that replace serving a client.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Write the server into the configuration of a client, and print what was written.
    Install(McpInstallArgs),
}

#[derive(Debug, Args)]
pub(crate) struct McpInstallArgs {
    /// The client.
    pub(crate) client: McpClientName,
    /// The folder of the project, for clients that are configured there (claude-code, vscode) [default: the current one].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,
}

/// A client, by name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct McpClientName(pub(crate) ClientKind);

impl ValueEnum for McpClientName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [McpClientName; ClientKind::ALL.len()] = {
            let [a, b, c, d, e] = ClientKind::ALL;
            [McpClientName(a), McpClientName(b), McpClientName(c), McpClientName(d), McpClientName(e)]
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}
