//! Arguments of internal commands.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, ValueEnum};
use deskhand_confine::Confinement;
use deskhand_desktop_linux::Confine;
use deskhand_host::config::ScreenSize;

#[derive(Debug, Args)]
pub(crate) struct KeepDesktopArgs {
    /// The size of the screen.
    #[arg(long, value_name = "WxH")]
    pub(crate) size: ScreenSize,
    /// Confinement of its services and applications, as JSON.
    #[arg(long, value_parser = parse_confine, default_value = "{\"mode\":\"off\"}")]
    pub(crate) confine: Confine,
}

/// Which browser to start, and where to answer calls about its pages.
#[derive(Debug, Args)]
pub(crate) struct HoldBrowserArgs {
    /// Start the browser without the right to new privileges, so that none of our sockets lets it in.
    #[arg(long)]
    pub(crate) confined: bool,
    /// Which protocol it speaks.
    #[arg(long)]
    pub(crate) engine: BrowserEngine,
    /// The socket on which calls about its pages are answered.
    #[arg(long)]
    pub(crate) socket: PathBuf,
    /// The folder of its profile.
    #[arg(long)]
    pub(crate) profile: PathBuf,
    /// The program.
    pub(crate) program: PathBuf,
    /// Its arguments; `{protocol}` is replaced by those for its protocol.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

/// A family of browsers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BrowserEngine {
    /// Chromium and what is made of it.
    Chromium,
    /// Firefox.
    Firefox,
}

/// Command to run, and its sandbox.
#[derive(Debug, Args)]
pub(crate) struct SandboxedArgs {
    /// The sandbox, as JSON.
    #[arg(value_parser = parse)]
    pub(crate) confinement: Confinement,
    /// The program.
    pub(crate) program: PathBuf,
    /// Its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

/// Which worker to watch over.
#[derive(Debug, Args)]
pub(crate) struct WatchWorkerArgs {
    /// Its process.
    pub(crate) process: i32,
    /// After how long a silence it is killed, in milliseconds.
    pub(crate) silence_ms: u64,
}

fn parse_confine(text: &str) -> Result<Confine, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn parse(text: &str) -> Result<Confinement, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
