//! `deskhand sandboxed`, internal: runs a program in a sandbox.

use std::io::Write as _;

use deskhand_confine::{NOT_STARTED, run};
use deskhand_host::SANDBOX_ARGUMENT;

use crate::{
    args::SandboxedArgs,
    exit::{CliError, CommandResult, Exit},
};

/// Returns the exit code of the program.
pub(crate) fn sandboxed(args: &SandboxedArgs) -> CommandResult {
    let helper = std::env::current_exe()
        .map_err(|error| CliError::failed_to("find the path of this program", error))?;
    let helper = [helper.into(), SANDBOX_ARGUMENT.into()];
    match run(&args.confinement, &helper, &args.program, &args.arguments) {
        Ok(ended) => {
            if let Some(limit) = ended.limit {
                // On a line of its own, whatever the program printed last. Nothing else can be done if nobody reads it.
                writeln!(std::io::stderr(), "\n{limit}").ok();
            }
            Ok(Exit::Program(ended.code))
        }
        Err(why) => {
            // The caller recognises the message by its mark, so nothing else is printed.
            std::io::stderr()
                .write_all(why.as_bytes())
                .map_err(|error| CliError::failed_to("report why the program was not started", error))?;
            Ok(Exit::Program(NOT_STARTED))
        }
    }
}
