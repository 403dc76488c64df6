//! The keeper: a process of its own that holds a virtual desktop, so that the desktop outlives its owner.
//!
//! The owner starts it with one end of a pair of sockets as its standard input. The connection is the life line: an
//! owner that says `close`, or goes without having said how long to keep the desktop, ends it at once; an owner that
//! dies is noticed by the end of the connection, and the desktop waits for the next owner, bounded. That one connects
//! to a socket in the private folder. Whatever becomes of the keeper itself, the guard ends what is on the desktop.

use std::{
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_desktop::{DesktopError, DesktopResult};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{UnixListener, UnixStream},
    signal::unix::{SignalKind, signal},
    time::Instant,
};

use crate::{
    desktop::StartupTimes,
    virtual_desktop::start::{self, VirtualOptions},
};

/// The socket of a keeper in the private folder of its desktop.
const SOCKET: &str = "keeper.sock";
/// The longest line that either side reads, in bytes.
const LINE_MAX: u64 = 64 * 1024;
/// The longest that a desktop is kept without an owner.
const GRACE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How to reach a virtual desktop that a keeper holds. Whoever has it can work on that desktop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesktopHandle {
    /// The process that holds the desktop.
    pub keeper_pid: u32,
    /// Where it listens for the next owner.
    pub socket: PathBuf,
    /// The private folder of the desktop, with the cookie of its display.
    pub private_folder: PathBuf,
    /// The display, such as `:3`.
    pub display: String,
    /// The address of the session bus.
    pub session_bus_address: String,
    /// The address of the accessibility bus.
    pub accessibility_address: String,
}

/// What an owner says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub(crate) enum Order {
    /// From now on, keep the desktop for so long should the owner die.
    Keep {
        /// In milliseconds.
        grace_ms: u64,
    },
    /// End the desktop.
    Close,
}

/// What a keeper says, once on each connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The desktop is there.
    Ready {
        /// How to reach it.
        handle: DesktopHandle,
        /// How long it took to come up.
        startup: StartupTimes,
    },
    /// The desktop did not come up.
    Failed {
        /// What is wrong.
        what: String,
        /// What to do.
        fix: String,
    },
    /// Another owner works on the desktop.
    Busy,
}

/// One end of a connection between owner and keeper.
pub(crate) struct Line {
    stream: BufReader<UnixStream>,
}

impl Line {
    pub(crate) fn over(stream: UnixStream) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    pub(crate) async fn say<T: Serialize + Sync>(&mut self, what: &T) -> io::Result<()> {
        let mut text = serde_json::to_vec(what)?;
        text.push(b'\n');
        self.stream.get_mut().write_all(&text).await
    }

    /// What the other side says next; none when it is gone.
    pub(crate) async fn hear<T: serde::de::DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let mut text = String::new();
        let mut limited = tokio::io::AsyncReadExt::take(&mut self.stream, LINE_MAX);
        if limited.read_line(&mut text).await? == 0 {
            return Ok(None);
        }
        serde_json::from_str(&text).map(Some).map_err(io::Error::other)
    }

    pub(crate) fn into_stream(self) -> UnixStream {
        self.stream.into_inner()
    }
}

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
