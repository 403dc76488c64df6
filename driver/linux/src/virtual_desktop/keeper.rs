//! The keeper: a process that holds a virtual desktop, so that the desktop outlives its owner.
//!
//! The owner starts it with one end of a socket pair as its standard input. The connection is the life line. An owner
//! that sends `close`, or disconnects without having sent `keep`, ends the desktop at once. If an owner dies, the
//! connection ends, and the keeper waits a bounded time for the next owner on a socket in the private folder.
//! Whatever happens to the keeper itself, the guard ends everything on the desktop.

use std::{io, os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use deskhand_desktop::{DesktopError, DesktopResult};
use deskhand_process::check_peer;
use tokio::{
    net::{UnixListener, UnixStream},
    signal::unix::{SignalKind, signal},
    time::Instant,
};

use crate::virtual_desktop::{
    protocol::{DesktopHandle, KeeperConnection, KeeperReply, KeeperRequest},
    start::{self, VirtualOptions},
};

/// The name of the keeper's socket in the private folder.
const SOCKET: &str = "own/keeper.sock";
/// The longest time that a desktop is kept without an owner.
const GRACE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Starts a virtual desktop and holds it until its owner closes it, or is gone for longer than its grace period.
/// `owner` is the connection to the first owner.
///
/// # Errors
/// If the desktop does not start (which is also reported to the owner), or the owner cannot be reached.
pub async fn keep_desktop(
    options: VirtualOptions,
    owner: std::os::unix::net::UnixStream,
) -> DesktopResult<()> {
    let failed = |error: io::Error| DesktopError::failed("keep a virtual desktop", error);
    owner.set_nonblocking(true).map_err(failed)?;
    let mut owner = KeeperConnection::over(UnixStream::from_std(owner).map_err(failed)?);
    let started = tokio::select! {
        started = start::start(options) => started,
        // The owner sends nothing before the desktop is ready: it is gone.
        _ = owner.receive::<KeeperRequest>() => return Ok(()),
    };
    let parts = match started {
        Ok(parts) => parts,
        Err(error) => {
            let answer = if let DesktopError::Start { what, fix } = &error {
                KeeperReply::Failed { what: what.clone(), fix: fix.clone() }
            } else {
                KeeperReply::Failed { what: error.chain(), fix: "see `deskhand doctor`".to_owned() }
            };
            owner.send(&answer).await.map_err(failed)?;
            return Err(error);
        }
    };
    let folder = parts.private_folder.clone().unwrap_or_default();
    let handle = DesktopHandle {
        keeper_pid: std::process::id(),
        socket: folder.join(SOCKET),
        private_folder: folder,
        display: parts.server.name().to_owned(),
        session_bus_address: parts.session_bus_address.clone().unwrap_or_default(),
        accessibility_address: parts.accessibility_address.clone().unwrap_or_default(),
    };
    let processes = parts.processes;
    // Only the owner uses the display.
    drop(parts.server);
    let ready = KeeperReply::Ready { handle: handle.clone(), startup: parts.startup };
    let held = hold(&handle.socket, &ready, owner).await;
    processes.end_all().await;
    // An owner that sent `close` waits for the end of the connection: everything is gone by now.
    held.map(drop).map_err(failed)
}

/// Serves one owner after the other until the desktop ends. Returns the connection to the last one.
async fn hold(socket: &Path, ready: &KeeperReply, first: KeeperConnection) -> io::Result<KeeperConnection> {
    let listener = UnixListener::bind(socket)?;
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600))?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut owner = first;
    loop {
        let grace = tokio::select! {
            grace = serve(&listener, &mut owner, ready) => grace?,
            _ = terminate.recv() => return Ok(owner),
        };
        let Some(grace) = grace else { return Ok(owner) };
        let until = Instant::now() + grace.min(GRACE_MAX);
        let next = tokio::select! {
            next = tokio::time::timeout_at(until, admitted(&listener)) => next,
            _ = terminate.recv() => return Ok(owner),
        };
        match next {
            Ok(accepted) => owner = KeeperConnection::over(accepted?),
            // No owner attached in time.
            Err(_) => return Ok(owner),
        }
    }
}

/// The next connection of a process of the user that nobody started for an agent: an application that took over its desktop could keep or
/// end it. Others are cut off.
async fn admitted(listener: &UnixListener) -> io::Result<UnixStream> {
    loop {
        let (stream, _) = listener.accept().await?;
        match check_peer(&stream) {
            Ok(()) => return Ok(stream),
            Err(refusal) => tracing::warn!(%refusal, "a client of the keeper is refused"),
        }
    }
}

/// Serves one owner. Returns how long to wait for the next one; `None` if the desktop ends now.
async fn serve(
    listener: &UnixListener,
    owner: &mut KeeperConnection,
    ready: &KeeperReply,
) -> io::Result<Option<Duration>> {
    let mut grace = None;
    // An owner that is gone already is detected below.
    let _ = owner.send(ready).await;
    loop {
        let order = tokio::select! {
            // Orders first: a new owner right after the death of the former one must not be rejected.
            biased;
            order = owner.receive::<KeeperRequest>() => order,
            other = admitted(listener) => {
                let _ = KeeperConnection::over(other?).send(&KeeperReply::Busy).await;
                continue;
            }
        };
        match order {
            Ok(Some(KeeperRequest::Keep { grace_ms })) => grace = Some(Duration::from_millis(grace_ms)),
            Ok(Some(KeeperRequest::Close)) => return Ok(None),
            // The connection ends with the owner, however it ended.
            Ok(None) | Err(_) => return Ok(grace),
        }
    }
}
