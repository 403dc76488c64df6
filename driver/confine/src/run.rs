//! The stages of a start, in the helper processes.

use std::{ffi::OsString, io, os::unix::process::CommandExt as _, path::Path, process::Command};

use rustix::process::Signal;

use crate::{
    calls,
    confinement::{Confinement, ConfinementStage, Enforcement},
    exit::ConfinedExit,
    files, limits,
    parent::end_with_parent,
    supervisor,
};

/// Runs a program in a confinement; returns how it ended, once its descendants have ended too. `helper` is the command
/// that calls this function again: the confinement as JSON, the program and its arguments are appended.
///
/// The calling process must be single-threaded and serve no other purpose.
///
/// # Errors
/// The message for stderr if the program was not started; it begins with the mark of the confinement.
pub fn run(
    confinement: &Confinement,
    helper: &[OsString],
    program: &Path,
    arguments: &[OsString],
) -> Result<ConfinedExit, String> {
    let ended = match confinement.stage {
        ConfinementStage::Supervisor | ConfinementStage::SecondSupervisor => {
            supervisor::supervise(confinement, helper, program, arguments)
        }
        ConfinementStage::Program => Err(become_program(confinement, program, arguments)),
    };
    let marked = |why: String| format!("{}: {why}", confinement.mark);
    ended.map(|ended| ConfinedExit { limit: ended.limit.map(marked), ..ended }).map_err(marked)
}

/// Restricts this process and replaces it with the program; returns why that failed.
fn become_program(confinement: &Confinement, program: &Path, arguments: &[OsString]) -> String {
    match restrict(confinement) {
        Ok(()) => {
            let error: io::Error = Command::new(program).args(arguments).exec();
            let out_of_reach =
                [io::ErrorKind::PermissionDenied, io::ErrorKind::NotFound].contains(&error.kind());
            let hint = if out_of_reach && confinement.enforcement != Enforcement::Nothing {
                "; in the sandbox, only programs in system folders and in `read` or `write` can be started"
            } else {
                ""
            };
            format!("failed to start {}: {error}{hint}", program.display())
        }
        Err(why) => why,
    }
}

fn restrict(confinement: &Confinement) -> Result<(), String> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| format!("failed to {what}: {error}")
    };
    end_with_parent(confinement, Signal::KILL)?;
    if confinement.enforcement == Enforcement::Nothing {
        return Ok(());
    }
    limits::apply(confinement).map_err(failed("set limits"))?;
    limits::drop_privileges().map_err(failed("drop privileges"))?;
    files::restrict(confinement).map_err(|error| format!("failed to restrict files: {error}"))?;
    calls::restrict(confinement).map_err(|error| format!("failed to restrict system calls: {error}"))
}
