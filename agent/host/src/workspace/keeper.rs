//! The keeper: the process that holds the virtual desktop of a session.

use std::{
    ffi::OsString,
    os::{fd::AsFd as _, unix::net::UnixStream},
    path::Path,
    process::Command,
};

use deskhand_desktop_linux::{Confine, VirtualOptions, keep_desktop};

use super::WorkspaceError;
use crate::config::ScreenSize;

/// The arguments on which a helper program calls [`hold_desktop`]; the size follows them.
pub const KEEPER_ARGUMENTS: [&str; 2] = ["keep-desktop", "--size"];

/// The argument before how services and applications are confined, as JSON.
const CONFINE_ARGUMENT: &str = "--confine";

/// The command that starts a keeper.
pub(super) fn command(helper: &Path, size: ScreenSize, confine: &Confine) -> Result<Command, WorkspaceError> {
    let mut command = Command::new(helper);
    command.args(KEEPER_ARGUMENTS).arg(OsString::from(size.to_string())).current_dir("/");
    command.arg(CONFINE_ARGUMENT).arg(serde_json::to_string(confine).map_err(WorkspaceError::PassConfine)?);
    Ok(command)
}

/// Holds a virtual desktop for the process at the other end of standard input, until that process closes it or the keep
/// time has passed.
///
/// # Errors
/// Standard input is not such a connection, or the desktop does not start.
pub async fn hold_desktop(size: ScreenSize, confine: Confine) -> Result<(), WorkspaceError> {
    let input = std::io::stdin().as_fd().try_clone_to_owned().map_err(|_| WorkspaceError::Standalone)?;
    let owner = UnixStream::from(input);
    owner.local_addr().map_err(|_| WorkspaceError::Standalone)?;
    // Out of the terminal's reach: what ends the owner must not end the desktop.
    rustix::process::setsid().map_err(|error| WorkspaceError::Detach(error.into()))?;
    let options = VirtualOptions { size: size.0, confine, ..VirtualOptions::default() };
    Ok(keep_desktop(options, owner).await?)
}
