//! The process above a confined program: waits for it, and ends everything that descends from it.
//!
//! Descendants that lose their parent become children of the supervisor (`PR_SET_CHILD_SUBREAPER`), whatever session, process
//! group or environment they chose. The supervisor ends them when the program exits, when it gets `SIGTERM`, and when its own
//! parent dies.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs, io,
    path::Path,
    process::{Child, Command},
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitOptions, getpid, kill_process, wait},
};
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    bubblewrap,
    cgroup::ControlGroup,
    confinement::{Confinement, Enforcement, Stage},
    run::end_with_parent,
};

/// How often descendants are listed until no new one is found: they may start others meanwhile.
const FREEZE_ROUNDS_MAX: u32 = 100;
/// How many ended children are waited for. More cannot exist.
const ENDED_MAX: u32 = 4_194_304;
/// The exit code for a program that a signal ended, plus the number of the signal.
const BY_SIGNAL: i32 = 128;
/// The exit code after the supervisor was asked to end everything.
const ASKED: u8 = 143;

/// Starts the program stage and returns its exit code once everything has ended.
pub(crate) fn supervise(
    confinement: &Confinement,
    helper: &[OsString],
    program: &Path,
    arguments: &[OsString],
) -> Result<u8, String> {
    let failed = |error: io::Error| format!("failed to supervise the program: {error}");
    let command = next_stage(confinement, helper, program, arguments)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    runtime.block_on(async {
        let mut asked = signal(SignalKind::terminate()).map_err(failed)?;
        let mut ended = signal(SignalKind::child()).map_err(failed)?;
        rustix::process::set_child_subreaper(Some(getpid())).map_err(|error| failed(error.into()))?;
        end_with_parent(confinement, Signal::TERM)?;
        let group = match confinement.enforcement {
            Enforcement::Nothing => None,
            Enforcement::Rules | Enforcement::Namespaces { .. } => ControlGroup::create(&confinement.limits)
                .map_err(|error| format!("failed to make a control group: {error}"))?,
        };
        let child = start(command, group.as_ref())
            .map_err(|error| format!("failed to start the sandbox: {error}"))?;
        let code = loop {
            if let Some(code) = reap(&child).map_err(failed)? {
                break code;
            }
            tokio::select! {
                _ = asked.recv() => break ASKED,
                _ = ended.recv() => {}
            }
        };
        end_descendants();
        drop(group);
        Ok(code)
    })
}

fn next_stage(
    confinement: &Confinement,
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
    let inner = Confinement { stage: Stage::Program, owner, ..confinement.clone() };
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

/// Kills all descendants and waits until none is left. They are stopped first, so that none can start another.
fn end_descendants() {
    let mut stopped = BTreeSet::new();
    for _ in 0..FREEZE_ROUNDS_MAX {
        let new: Vec<Pid> =
            descendants().into_iter().filter(|pid| stopped.insert(pid.as_raw_nonzero())).collect();
        if new.is_empty() {
            break;
        }
        for pid in new {
            kill_process(pid, Signal::STOP).ok();
        }
    }
    for _ in 0..ENDED_MAX {
        for pid in descendants() {
            kill_process(pid, Signal::KILL).ok();
        }
        // Every descendant becomes a child of this process once its parents have ended.
        if wait(WaitOptions::empty()).is_err_and(|error| error == Errno::CHILD) {
            return;
        }
    }
}

/// The descendants of this process, from the parents in `/proc`.
fn descendants() -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok) {
        let pid: Option<i32> = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some((pid, parent)) = pid.and_then(|pid| Some((pid, parent_of(&entry.path())?))) else {
            continue;
        };
        children.entry(parent).or_default().push(pid);
    }
    let mut found = Vec::new();
    let mut open = vec![getpid().as_raw_nonzero().get()];
    while let Some(parent) = open.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            open.push(child);
            found.extend(Pid::from_raw(child));
        }
    }
    found
}

/// The parent of a process (field 4 of `stat`, proc(5)); `None` if the process has ended.
fn parent_of(process: &Path) -> Option<i32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // The program name in parentheses may contain anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(1)?.parse().ok()
}
