//! The process above a confined program: waits for it, bounds what it uses, and ends everything that descends from it.
//!
//! Descendants that lose their parent become children of the supervisor (`PR_SET_CHILD_SUBREAPER`), whatever session, process
//! group or environment they chose. The supervisor ends them when the program exits or exceeds a limit, when it gets `SIGTERM`, and
//! when its own parent dies.
//!
//! A supervisor that is killed ends nothing. In a PID namespace, the kernel does it then. Elsewhere there are two: what the second
//! one leaves behind becomes children of the first one, and the second one ends everything when the first one dies.

use std::{
    ffi::OsString,
    io,
    path::Path,
    process::{Child, Command},
};

use rustix::{
    io::Errno,
    process::{Signal, WaitOptions, getpid, wait},
};
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    bubblewrap,
    cgroup::ControlGroup,
    confinement::{Confinement, ConfinementStage, Enforcement},
    descendants::{ENDED_MAX, end_descendants},
    exit::{ConfinedExit, OVER_LIMIT},
    parent::end_with_parent,
    watch::ResourcePoller,
};

/// The exit code for a program that a signal ended, plus the number of the signal.
const BY_SIGNAL: i32 = 128;
/// The exit code after the supervisor was asked to end everything.
const ASKED: u8 = 143;

/// Starts the next stage and returns how it ended once everything has.
pub(crate) fn supervise(
    confinement: &Confinement,
    helper: &[OsString],
    program: &Path,
    arguments: &[OsString],
) -> Result<ConfinedExit, String> {
    let failed = |error: io::Error| format!("failed to supervise the program: {error}");
    let next = next_of(confinement);
    let command = command_of(confinement, next, helper, program, arguments)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    runtime.block_on(async {
        let mut asked = signal(SignalKind::terminate()).map_err(failed)?;
        let mut ended = signal(SignalKind::child()).map_err(failed)?;
        rustix::process::set_child_subreaper(Some(getpid())).map_err(|error| failed(error.into()))?;
        end_with_parent(confinement, Signal::TERM)?;
        // The last supervisor looks after the limits.
        let is_limited = confinement.enforcement != Enforcement::Nothing && next == ConfinementStage::Program;
        let (group, watch) = if is_limited { limits_of(confinement)? } else { (None, None) };
        let child = start(command, group.as_ref())
            .map_err(|error| format!("failed to start the sandbox: {error}"))?;
        let mut watching = watch.map(ResourcePoller::start).transpose().map_err(failed)?;
        let ended = loop {
            if let Some(code) = reap(&child).map_err(failed)? {
                break ConfinedExit { code, limit: None };
            }
            let exceeded = async {
                match &mut watching {
                    Some(watching) => watching.exceeded().await,
                    None => None,
                }
            };
            tokio::select! {
                _ = asked.recv() => break ConfinedExit { code: ASKED, limit: None },
                _ = ended.recv() => {}
                Some(limit) = exceeded => break ConfinedExit { code: OVER_LIMIT, limit: Some(limit) },
            }
        };
        if let Some(group) = &group {
            group.kill();
        }
        end_descendants();
        drop(group);
        if next == ConfinementStage::SecondSupervisor {
            ControlGroup::remove_abandoned();
        }
        Ok(ended)
    })
}

/// Prepares the limits of a program before it starts: a control group, if one can be created, and a watch for
/// limits that the kernel does not enforce.
fn limits_of(confinement: &Confinement) -> Result<(Option<ControlGroup>, Option<ResourcePoller>), String> {
    let group = ControlGroup::create(&confinement.limits)
        .map_err(|error| format!("failed to make a control group: {error}"))?;
    let limits_memory = group.as_ref().is_some_and(ControlGroup::limits_memory);
    let watch = ResourcePoller::prepare(confinement, limits_memory)?;
    Ok((group, Some(watch)))
}

/// The stage below this one.
const fn next_of(confinement: &Confinement) -> ConfinementStage {
    match (confinement.stage, &confinement.enforcement) {
        (ConfinementStage::Supervisor, Enforcement::Nothing | Enforcement::Rules) => {
            ConfinementStage::SecondSupervisor
        }
        (ConfinementStage::Supervisor, Enforcement::Namespaces { .. })
        | (ConfinementStage::SecondSupervisor | ConfinementStage::Program, _) => ConfinementStage::Program,
    }
}

fn command_of(
    confinement: &Confinement,
    next: ConfinementStage,
    helper: &[OsString],
    program: &Path,
    arguments: &[OsString],
) -> Result<Command, String> {
    let Some((file, first)) = helper.split_first() else {
        return Err("the helper command is empty".to_owned());
    };
    // Inside of namespaces, process ids are others, and bubblewrap ends what it started.
    let owner = match confinement.enforcement {
        Enforcement::Namespaces { .. } => None,
        Enforcement::Nothing | Enforcement::Rules => Some(std::process::id()),
    };
    let inner = Confinement { stage: next, owner, ..confinement.clone() };
    let inner = serde_json::to_string(&inner).map_err(|error| format!("failed to pass it on: {error}"))?;
    let mut command = match &confinement.enforcement {
        Enforcement::Namespaces { bubblewrap } => {
            let mut command = Command::new(bubblewrap);
            command.args(bubblewrap::arguments(confinement, Path::new(file))).arg("--").arg(file);
            command
        }
        Enforcement::Nothing | Enforcement::Rules => Command::new(file),
    };
    command.args(first).arg(inner).arg(program).args(arguments);
    Ok(command)
}

/// Starts the command as a member of the group: only what is started by a member becomes one.
fn start(mut command: Command, group: Option<&ControlGroup>) -> io::Result<Child> {
    let Some(group) = group else { return command.spawn() };
    group.enter()?;
    let child = command.spawn();
    group.leave()?;
    child
}

/// Collects ended children; returns the exit code if the program is among them.
fn reap(child: &Child) -> io::Result<Option<u8>> {
    for _ in 0..ENDED_MAX {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if u32::try_from(pid.as_raw_nonzero().get()) == Ok(child.id()) => {
                let code = status
                    .exit_status()
                    .or_else(|| status.terminating_signal().map(|signal| BY_SIGNAL.saturating_add(signal)));
                return Ok(code.map(|code| u8::try_from(code).unwrap_or(u8::MAX)));
            }
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}
