//! `deskhand sandboxed`: confines itself and becomes the program that an agent runs. Not for people.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;
use deskhand_runtime::agents::shell::sandbox::{Confinement, run};

use crate::exit::{CliError, CommandResult, Exit};

/// What to run, and how it is confined.
#[derive(Debug, Args)]
pub(crate) struct SandboxedArgs {
    /// What the program may do, as JSON.
    #[arg(value_parser = parse)]
    confinement: Confinement,
    /// The program.
    program: PathBuf,
    /// Its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

fn parse(text: &str) -> Result<Confinement, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Returns only when the program could not be started.
pub(crate) fn sandboxed(args: &SandboxedArgs) -> CommandResult {
    let why = run(&args.confinement, &args.program, &args.arguments);
    // The caller knows the message by its mark, so it stands alone.
    std::io::Write::write_all(&mut std::io::stderr(), why.as_bytes())
        .map_err(|error| CliError::failed_to("say why the program was not started", error))?;
    Ok(Exit::NotStarted)
}
