//! `deskhand apart`, internal: executes an application of root where it cannot look into processes outside.

use std::{os::unix::process::CommandExt as _, process::Command};

use deskhand_confine::stand_apart;

use crate::{
    args::ApartArgs,
    exit::{CliError, CommandResult},
};

/// Returns only if the program cannot be executed.
pub(crate) fn apart(args: &ApartArgs) -> CommandResult {
    stand_apart().map_err(|error| CliError::failed_to("keep the program apart from others", error))?;
    let error = Command::new(&args.program).args(&args.arguments).exec();
    Err(CliError::failed_to(format!("execute {}", args.program.display()), error))
}
