//! Arguments that several commands have in common and that are not settings.

use std::{collections::BTreeMap, path::PathBuf};

use clap::{Args, ValueHint};
use deskhand_host::config::Overrides;
use deskhand_ui::ids::SessionId;

use super::settings::{DesktopName, ScreenArgs, SettingArgs};

/// Arguments shared by all commands that carry out requests.
#[derive(Debug, Clone, Args)]
pub(crate) struct WorkArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) settings: SettingArgs,
    #[command(flatten)]
    pub(crate) script: ScriptArgs,
    #[command(flatten)]
    pub(crate) documents: DocumentArgs,
    /// The id of the session, for whoever starts it and wants to find it.
    #[arg(long = "as", value_name = "ID", hide = true, value_parser = parse_id)]
    pub(crate) id: Option<SessionId>,
    /// The schedule that begins it.
    #[arg(skip)]
    pub(crate) schedule: Option<String>,
}

/// Output options.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutputArgs {
    /// Speak JSON lines: print the journal and a summary, read answers from standard input (docs/guides/protocol.md).
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only the outcome.
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more: what agents think (-v), what they look at and what it costs (-vv).
    #[arg(long, short, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// The variables of a script that stands in for a model.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ScriptArgs {
    /// Set a variable of the script given with `--model script:FILE`; can be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
    script_var: Vec<(String, String)>,
}

/// Documents to open before work begins.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Desktop")]
pub(crate) struct DocumentArgs {
    /// Open a file, a folder or an address first; can be repeated.
    ///
    /// All of them open at once, each in the application that `xdg-open` would choose among those with windows. A file that does not
    /// exist is begun as a new document.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) open: Vec<PathBuf>,
}

/// Which desktop is looked at or acted on by hand, and what to start on it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Desktop")]
pub(crate) struct StageArgs {
    /// Desktop to use [default: the current one, or a virtual one if there is no display].
    #[arg(long, value_enum, value_name = "KIND")]
    desktop: Option<DesktopName>,
    #[command(flatten)]
    screen: ScreenArgs,
    #[command(flatten)]
    pub(crate) documents: DocumentArgs,
    /// Start a program first, by the name of its desktop entry or as a command.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) launch: Option<String>,
}

impl StageArgs {
    /// The settings that these flags stand for.
    pub(crate) fn overrides(&self) -> Overrides {
        self.screen.add_to(Overrides::default(), self.desktop)
    }
}

impl WorkArgs {
    /// The settings that these flags stand for.
    pub(crate) fn overrides(&self) -> Overrides {
        self.settings.overrides()
    }
}

impl ScriptArgs {
    /// The variables of the script, by name.
    pub(crate) fn variables(&self) -> BTreeMap<String, String> {
        self.script_var.iter().cloned().collect()
    }
}

/// The id of a session is the name of its folder.
pub(super) fn parse_id(text: &str) -> Result<SessionId, String> {
    let is_id = !text.is_empty() && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    is_id.then(|| SessionId(text.to_owned())).ok_or_else(|| format!("`{text}` is not the id of a session"))
}

pub(super) fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not NAME=VALUE")),
    }
}
