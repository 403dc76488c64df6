//! Peer checks of Unix sockets: a client steers us only if it is a process of the same user, and none that we started for an agent.
//!
//! Everything that runs on a virtual desktop, and every confined program, is started with the attribute `no_new_privs`
//! ([`without_new_privileges`], bubblewrap, the sandbox of agents). The kernel passes it on to all descendants and never takes it
//! back (`PR_SET_NO_NEW_PRIVS`, prctl(2)), so no descendant can lose it, whatever it does to its environment, its parents or its name
//! spaces. The user id proves nothing: applications run as the user.

use std::{
    fmt, fs, io,
    os::fd::{AsFd, AsRawFd as _, OwnedFd},
    path::{Path, PathBuf},
    thread,
};

use nix::sys::socket::{getsockopt, sockopt::PeerPidfd};
use rustix::net::sockopt::socket_peercred;

/// The longest `/proc/PID/status` or `/proc/self/fdinfo/N` that is read, in bytes.
const STATUS_MAX: u64 = 64 * 1024;

/// Why the process at the other end of a socket may not steer us.
#[derive(Debug)]
pub enum PeerRefusal {
    /// The peer belongs to another user.
    OtherUser {
        /// The id of that user.
        uid: u32,
    },
    /// The peer has ended, so that nothing proves its identity.
    Ended,
    /// The peer is confined, or a descendant of a process that we started for an agent.
    Confined {
        /// Its process id.
        pid: u32,
    },
    /// The kernel does not say what it is.
    Unknown(io::Error),
}

impl fmt::Display for PeerRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherUser { uid } => write!(formatter, "the client belongs to the user {uid}"),
            Self::Ended => write!(formatter, "the client has ended"),
            Self::Confined { pid } => {
                write!(formatter, "the process {pid} is an application or another confined program")
            }
            Self::Unknown(error) => write!(formatter, "cannot identify the client: {error}"),
        }
    }
}

impl std::error::Error for PeerRefusal {}

/// Checks that the process that connected to a socket runs as the effective user of this process, and that we have not started it for
/// an agent. The process is the one that called `connect`, or made the socket pair. Blocking, but only small files of `/proc`.
///
/// Where this process has `no_new_privs` itself, as in a container that sets it, the attribute says nothing about a peer; then the peer
/// has to be in the same mount name space, which an application under bubblewrap is not.
///
/// # Errors
/// Why the peer is refused.
pub fn check_peer(socket: impl AsFd) -> Result<(), PeerRefusal> {
    let socket = socket.as_fd();
    let credentials = socket_peercred(socket).map_err(|error| PeerRefusal::Unknown(error.into()))?;
    let uid = credentials.uid.as_raw();
    if uid != rustix::process::geteuid().as_raw() {
        return Err(PeerRefusal::OtherUser { uid });
    }
    // Linux 6.5 and newer. The number of a process that has ended may belong to another one by now; a handle cannot.
    let handle = getsockopt(&socket, PeerPidfd).ok();
    let pid = match &handle {
        Some(handle) => pid_of(handle)?,
        None => u32::try_from(credentials.pid.as_raw_nonzero().get()).map_err(|_| PeerRefusal::Ended)?,
    };
    let process = PathBuf::from(format!("/proc/{pid}"));
    let is_confined = is_confined(&process, Path::new("/proc/self")).map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound { PeerRefusal::Ended } else { PeerRefusal::Unknown(error) }
    })?;
    // What was read is about the peer only if it still runs.
    if let Some(handle) = &handle {
        pid_of(handle)?;
    }
    if is_confined { Err(PeerRefusal::Confined { pid }) } else { Ok(()) }
}

/// Runs `work` on a thread whose child processes, and all of their descendants, have `no_new_privs`: programs with the set-user-id bit
/// give them no privileges, and [`check_peer`] refuses them.
///
/// # Errors
/// The thread cannot be started, or the kernel does not set the attribute; `work` has not run then.
pub fn without_new_privileges<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let confined =
            thread::Builder::new().name("confined-start".to_owned()).spawn_scoped(scope, || {
                give_up_privileges()?;
                Ok(work())
            })?;
        confined.join().unwrap_or_else(|_| Err(io::Error::other("the thread of a start ended")))
    })
}

/// Sets `no_new_privs` for this thread, and thus for every program that it starts from now on.
///
/// # Errors
/// The kernel does not set it.
pub fn give_up_privileges() -> io::Result<()> {
    Ok(rustix::thread::set_no_new_privs(true)?)
}

/// The number of the process of a handle, in our name space of processes.
fn pid_of(handle: &OwnedFd) -> Result<u32, PeerRefusal> {
    let about = read(&PathBuf::from(format!("/proc/self/fdinfo/{}", handle.as_raw_fd())));
    let about = about.map_err(PeerRefusal::Unknown)?;
    // -1 once it has been reaped, 0 if it is in a name space that is not ours.
    let pid = field(&about, "Pid").and_then(|pid| pid.parse().ok()).filter(|pid| *pid > 0);
    pid.ok_or(PeerRefusal::Ended)
}

/// Returns `true` if a process is more confined than we are.
fn is_confined(process: &Path, own: &Path) -> io::Result<bool> {
    if !has_no_new_privileges(process)? {
        return Ok(false);
    }
    if !has_no_new_privileges(own)? {
        return Ok(true);
    }
    let mounts = |process: &Path| fs::read_link(process.join("ns/mnt"));
    // Where it cannot be read, the process is none of ours that keeps nothing from us.
    Ok(mounts(process).ok() != Some(mounts(own)?))
}

fn has_no_new_privileges(process: &Path) -> io::Result<bool> {
    let status = read(&process.join("status"))?;
    let value = field(&status, "NoNewPrivs").ok_or(io::ErrorKind::InvalidData)?;
    Ok(value != "0")
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    io::Read::read_to_string(&mut io::Read::take(fs::File::open(path)?, STATUS_MAX), &mut text)?;
    Ok(text)
}

/// The value of a line `NAME:<tab>value`. The name of a program, the first line, cannot have line breaks there (proc(5)).
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    values.next().map(str::trim)
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
