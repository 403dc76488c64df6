//! Arguments of internal commands.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;
use deskhand_confine::Confinement;
use deskhand_desktop_linux::Confine;
use deskhand_host::config::ScreenSize;

#[derive(Debug, Args)]
pub(crate) struct KeepDesktopArgs {
    /// The size of the screen.
    #[arg(long, value_name = "WxH")]
    pub(crate) size: ScreenSize,
    /// How its services and applications are confined, as JSON.
    #[arg(long, value_parser = parse_confine, default_value = "{\"mode\":\"off\"}")]
    pub(crate) confine: Confine,
}

/// What to run, and its sandbox.
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

fn parse_confine(text: &str) -> Result<Confine, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn parse(text: &str) -> Result<Confinement, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
