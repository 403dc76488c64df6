//! `deskhand sandboxed`, internal: enters a sandbox and executes a program of the shell agent.

use deskhand_runtime::agents::shell::sandbox::run;

use crate::{
    args::SandboxedArgs,
    exit::{CliError, CommandResult, Exit},
};

/// Returns only if the program could not be started.
pub(crate) fn sandboxed(args: &SandboxedArgs) -> CommandResult {
    let why = run(&args.confinement, &args.program, &args.arguments);
    // The caller recognises the message by its mark, so nothing else is printed.
    std::io::Write::write_all(&mut std::io::stderr(), why.as_bytes())
        .map_err(|error| CliError::failed_to("report why the program was not started", error))?;
    Ok(Exit::NotStarted)
}
