//! The keeper: a process of its own that holds a virtual desktop, so that the desktop outlives its owner.
//!
//! The owner starts it with one end of a pair of sockets as its standard input. The connection is the life line: an
//! owner that says `close`, or goes without having said how long to keep the desktop, ends it at once; an owner that
//! dies is noticed by the end of the connection, and the desktop waits for the next owner, bounded. That one connects
//! to a socket in the private folder. Whatever becomes of the keeper itself, the guard ends what is on the desktop.

use std::{io, os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use deskhand_desktop::{DesktopError, DesktopResult};
use tokio::{
    net::{UnixListener, UnixStream},
    signal::unix::{SignalKind, signal},
    time::Instant,
};

use crate::virtual_desktop::{
    protocol::{Answer, DesktopHandle, Line, Order},
    start::{self, VirtualOptions},
};

/// The socket of a keeper in the private folder of its desktop.
const SOCKET: &str = "keeper.sock";
/// The longest that a desktop is kept without an owner.
const GRACE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Starts a virtual desktop and holds it until its owner closes it, or is gone for longer than it said. `owner` is the
/// connection to the first owner.
///
/// # Errors
/// When the desktop does not come up (which the owner is told as well), or the owner cannot be reached.
pub async fn keep_desktop(
    options: VirtualOptions,
    owner: std::os::unix::net::UnixStream,
) -> DesktopResult<()> {
    let failed = |error: io::Error| DesktopError::failed("hold a virtual desktop", error);
    owner.set_nonblocking(true).map_err(failed)?;
    let mut owner = Line::over(UnixStream::from_std(owner).map_err(failed)?);
    let started = tokio::select! {
        started = start::start(options) => started,
        // It says nothing before there is a desktop: it is gone.
        _ = owner.hear::<Order>() => return Ok(()),
    };
    let parts = match started {
        Ok(parts) => parts,
        Err(error) => {
            let answer = if let DesktopError::Start { what, fix } = &error {
                Answer::Failed { what: what.clone(), fix: fix.clone() }
            } else {
                Answer::Failed { what: error.chain(), fix: "see `deskhand doctor`".to_owned() }
            };
            owner.say(&answer).await.map_err(failed)?;
            return Err(error);
        }
    };
    let folder = parts.private_folder.clone().unwrap_or_default();
    let handle = DesktopHandle {
        keeper_pid: std::process::id(),
        socket: folder.join(SOCKET),
        private_folder: folder,
        display: parts.display.name().to_owned(),
        session_bus_address: parts.session_bus_address.clone().unwrap_or_default(),
        accessibility_address: parts.accessibility_address.clone().unwrap_or_default(),
    };
    let processes = parts.processes;
    // Nobody listens to the display here; its owner does.
    drop(parts.display);
    let ready = Answer::Ready { handle: handle.clone(), startup: parts.startup };
    let held = hold(&handle.socket, &ready, owner).await;
    processes.end_all().await;
    // An owner that said `close` waits for the end of the connection: nothing is left now.
    held.map(drop).map_err(failed)
}

/// Serves one owner after the other until the desktop is to end. Returns the connection to the last one.
async fn hold(socket: &Path, ready: &Answer, first: Line) -> io::Result<Line> {
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
            next = tokio::time::timeout_at(until, listener.accept()) => next,
            _ = terminate.recv() => return Ok(owner),
        };
        match next {
            Ok(accepted) => owner = Line::over(accepted?.0),
            // Nobody came back for it.
            Err(_) => return Ok(owner),
        }
    }
}

/// Serves one owner. Returns how long to wait for the next one; nothing when the desktop is to end now.
async fn serve(listener: &UnixListener, owner: &mut Line, ready: &Answer) -> io::Result<Option<Duration>> {
    let mut grace = None;
    // An owner that is gone already is noticed right below.
    let _ = owner.say(ready).await;
    loop {
        let order = tokio::select! {
            // The owner first: whoever takes over right after its death is not sent away because of it.
            biased;
            order = owner.hear::<Order>() => order,
            other = listener.accept() => {
                let _ = Line::over(other?.0).say(&Answer::Busy).await;
                continue;
            }
        };
        match order {
            Ok(Some(Order::Keep { grace_ms })) => grace = Some(Duration::from_millis(grace_ms)),
            Ok(Some(Order::Close)) => return Ok(None),
            // The connection ends with the owner, however that ends.
            Ok(None) | Err(_) => return Ok(grace),
        }
    }
}
