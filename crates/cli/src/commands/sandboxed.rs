//! `deskhand sandboxed`: confines itself and becomes the program that an agent runs. Not for people.

use deskhand_runtime::agents::shell::sandbox::run;

use crate::{
    args::SandboxedArgs,
    exit::{CliError, CommandResult, Exit},
};

/// Returns only when the program could not be started.
pub(crate) fn sandboxed(args: &SandboxedArgs) -> CommandResult {
    let why = run(&args.confinement, &args.program, &args.arguments);
    // The caller knows the message by its mark, so it stands alone.
    std::io::Write::write_all(&mut std::io::stderr(), why.as_bytes())
        .map_err(|error| CliError::failed_to("say why the program was not started", error))?;
    Ok(Exit::NotStarted)
}
