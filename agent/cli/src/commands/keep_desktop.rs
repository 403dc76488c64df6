//! `deskhand keep-desktop`, internal: the process that holds the virtual desktop of a session.

use deskhand_host::workspace::hold_desktop;

use crate::{
    args::KeepDesktopArgs,
    exit::{CommandResult, Exit},
};

pub(crate) async fn keep_desktop(args: &KeepDesktopArgs) -> CommandResult {
    hold_desktop(args.size, args.confine.clone()).await?;
    Ok(Exit::Success)
}
