//! The socket of sway: requests and events in the protocol of i3 (`sway-ipc(7)`).

use std::{
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    path::Path,
    time::Duration,
};

use deskhand_desktop::{DesktopError, DesktopResult};
use serde::Deserialize;

const MAGIC: &[u8; 6] = b"i3-ipc";
/// The longest message that is read, in bytes.
const LENGTH_MAX: u32 = 64 << 20;
/// Maximum time for sway to answer.
const ANSWER_BOUND: Duration = Duration::from_secs(4);

/// The type of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SwayRequestKind {
    Run = 0,
    Subscribe = 2,
    Tree = 4,
}

/// A connection to sway.
pub(crate) struct Sway {
    stream: UnixStream,
}

impl Sway {
    /// Connects. Blocking, but the connection is local.
    pub(crate) fn open(socket: &Path) -> DesktopResult<Self> {
        let open = || {
            let stream = UnixStream::connect(socket)?;
            stream.set_read_timeout(Some(ANSWER_BOUND))?;
            stream.set_write_timeout(Some(ANSWER_BOUND))?;
            Ok::<_, io::Error>(Self { stream })
        };
        open().map_err(|error| DesktopError::failed("connect to the socket of sway (SWAYSOCK)", error))
    }

    /// Asks for the tree of containers, as JSON.
    pub(crate) fn tree(&mut self) -> DesktopResult<Vec<u8>> {
        self.ask(SwayRequestKind::Tree, "").map_err(|error| DesktopError::failed("list the windows", error))
    }

    /// Runs a command; returns whether sway carried it out.
    pub(crate) fn run(&mut self, operation: &str, command: &str) -> DesktopResult<bool> {
        #[derive(Deserialize)]
        struct SwayCommandOutcome {
            success: bool,
        }
        let failed = |error: io::Error| DesktopError::failed(operation, error);
        let answer = self.ask(SwayRequestKind::Run, command).map_err(failed)?;
        let outcomes: Vec<SwayCommandOutcome> =
            serde_json::from_slice(&answer).map_err(|error| DesktopError::failed(operation, error))?;
        Ok(outcomes.iter().all(|outcome| outcome.success))
    }

    /// From now on, events of windows and workspaces arrive on this connection.
    pub(crate) fn subscribe(&mut self) -> DesktopResult<()> {
        let asked = self.ask(SwayRequestKind::Subscribe, r#"["window","workspace"]"#);
        asked.map(drop).map_err(|error| DesktopError::failed("subscribe to the events of sway", error))
    }

    /// Reads one event, whatever it says.
    pub(crate) fn event(&mut self) -> io::Result<()> {
        self.receive().map(drop)
    }

    fn ask(&mut self, request: SwayRequestKind, text: &str) -> io::Result<Vec<u8>> {
        let length = u32::try_from(text.len()).map_err(io::Error::other)?;
        let mut message = MAGIC.to_vec();
        message.extend(length.to_ne_bytes());
        message.extend((request as u32).to_ne_bytes());
        message.extend(text.as_bytes());
        self.stream.write_all(&message)?;
        self.receive()
    }

    fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut magic = [0; 6];
        let mut length = [0; 4];
        let mut kind = [0; 4];
        self.stream.read_exact(&mut magic)?;
        self.stream.read_exact(&mut length)?;
        self.stream.read_exact(&mut kind)?;
        let length = u32::from_ne_bytes(length);
        if magic != *MAGIC || length > LENGTH_MAX {
            return Err(io::Error::other("it does not speak the protocol of sway"));
        }
        let mut body = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }
}

impl AsFd for Sway {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
