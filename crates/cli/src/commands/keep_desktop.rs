//! `deskhand keep-desktop`, which only Deskhand itself calls: the process that holds the virtual desktop of a session.

use std::{
    os::{fd::AsFd as _, unix::net::UnixStream},
    process::Command,
};

use deskhand_desktop_linux::{VirtualOptions, keep_desktop as keep};
use deskhand_host::config::ScreenSize;

use super::stage::desktop_error;
use crate::{
    args::KeepDesktopArgs,
    exit::{CliError, CommandResult, Exit},
};

/// The name of the command.
const NAME: &str = "keep-desktop";

/// The command that starts a keeper.
///
/// # Errors
/// Where this program lies cannot be found out.
pub(super) fn command(size: ScreenSize) -> Result<Command, CliError> {
    let program = std::env::current_exe()
        .map_err(|error| CliError::failed_to("find the program of the keeper", error))?;
    let mut command = Command::new(program);
    command.args([NAME, "--size", &size.to_string()]).current_dir("/");
    Ok(command)
}

pub(crate) async fn keep_desktop(args: &KeepDesktopArgs) -> CommandResult {
    let standalone = || {
        CliError::usage("this command is for Deskhand itself")
            .with_help("`deskhand desktop` starts a desktop")
    };
    let input = std::io::stdin().as_fd().try_clone_to_owned().map_err(|_| standalone())?;
    let owner = UnixStream::from(input);
    owner.local_addr().map_err(|_| standalone())?;
    // Out of the terminal's reach: what ends the owner must not end the desktop.
    rustix::process::setsid().map_err(|error| CliError::failed_to("leave the terminal", error))?;
    let options = VirtualOptions { size: args.size.0, ..VirtualOptions::default() };
    keep(options, owner).await.map_err(|error| desktop_error(&error))?;
    Ok(Exit::Success)
}
