//! Ends a worker that is stopped for so long that its leases run out.
//!
//! A worker that is stopped (SIGSTOP, a debugger, a starved machine) in the middle of a command would go on with it once it continues,
//! when another one has the task already. It cannot notice that in time itself. So a process of its own watches it, and kills it before
//! anybody else may take over; what it had on its desktops ends with it.

use std::{
    io::{self, Read as _, Write as _},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, getpid, getppid, pidfd_open, pidfd_send_signal},
};

/// The hidden command of the helper that runs [`watch`]. Its arguments are a process and a number of milliseconds.
pub const COMMAND: &str = "watch-worker";

/// Says that this process runs, as long as it does.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// The thread ends once it is dropped.
    _beats: Sender<()>,
}

/// Has this process killed if it does not run for half of a lease. A task goes to another worker after three quarters at the earliest.
///
/// # Errors
/// The watching process cannot be started.
pub(super) fn start(helper: &Path, lease: Duration) -> io::Result<Watchdog> {
    let silence = lease / 2;
    let mut command = Command::new(helper);
    command.arg(COMMAND).arg(getpid().as_raw_nonzero().to_string()).arg(silence.as_millis().to_string());
    // Not in the group of this process: Ctrl-C asks that one to drain.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut watching = command.spawn()?;
    let (beats, ended) = channel();
    thread::Builder::new().name("watchdog".to_owned()).spawn(move || {
        while ended.recv_timeout(silence / 8) == Err(RecvTimeoutError::Timeout) {
            if !is_heard(&mut watching) {
                tracing::warn!("nothing watches over this worker any more");
                break;
            }
        }
        drop(watching.stdin.take());
        if let Err(error) = watching.wait() {
            tracing::debug!(%error, "the watching process is gone");
        }
    })?;
    Ok(Watchdog { _beats: beats })
}

fn is_heard(watching: &mut Child) -> bool {
    watching.stdin.as_mut().is_some_and(|input| input.write_all(b".").is_ok())
}

/// Reads from standard input until it ends, and kills the process that started this one if it says nothing for so long.
///
/// # Errors
/// The process did not start this one, or cannot be watched.
pub fn watch(process: i32, silence: Duration) -> io::Result<()> {
    let worker = Pid::from_raw(process).ok_or(io::ErrorKind::InvalidInput)?;
    let handle = pidfd_open(worker, PidfdFlags::empty())?;
    if getppid() != Some(worker) {
        // It has ended by now.
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut input = io::stdin().lock();
    let mut beats = [0; 64];
    let bound = Timespec::try_from(silence).map_err(|_| io::ErrorKind::InvalidInput)?;
    loop {
        let ready = poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&bound))?;
        if ready == 0 {
            return Ok(pidfd_send_signal(handle, Signal::KILL)?);
        }
        if input.read(&mut beats)? == 0 {
            return Ok(());
        }
    }
}
