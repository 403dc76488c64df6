//! The protocol between the owner of a virtual desktop and its keeper: one line of JSON per message.

use std::{
    io,
    path::{Path, PathBuf},
};

use deskhand_desktop::{DesktopError, DesktopResult};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
};

use crate::{
    times::StartupTimes,
    x11::address::{X11Address, socket_of},
};

/// The longest line that either side reads, in bytes.
const LINE_MAX: u64 = 64 * 1024;

/// Handle to attach to a virtual desktop that a keeper holds. Anyone who has it can use that desktop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesktopHandle {
    /// The process of the keeper.
    pub keeper_pid: u32,
    /// The socket on which it accepts the next owner.
    pub socket: PathBuf,
    /// The private folder of the desktop, which contains the cookie of its display.
    pub private_folder: PathBuf,
    /// The display, such as `:3`.
    pub display: String,
    /// The address of the session bus.
    pub session_bus_address: String,
    /// The address of the accessibility bus.
    pub accessibility_address: String,
}

impl DesktopHandle {
    /// The variables with which programs reach the desktop.
    pub fn variables(&self) -> [(&'static str, String); 4] {
        let below = |name: &str| self.private_folder.join(name).to_string_lossy().into_owned();
        [
            ("DISPLAY", self.display.clone()),
            ("XAUTHORITY", below("Xauthority")),
            ("DBUS_SESSION_BUS_ADDRESS", self.session_bus_address.clone()),
            ("XDG_RUNTIME_DIR", below("run")),
        ]
    }

    /// Returns the address of its X server. Reads the cookie: blocking, but a small file.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if the cookie does not exist any more.
    pub(crate) fn address(&self) -> DesktopResult<X11Address> {
        address_of(&self.display, &self.private_folder)
    }
}

/// Returns the address of the X server of a display whose cookie is in this folder. Reads the cookie:
/// blocking, but a small file.
///
/// # Errors
/// [`DesktopError::Failed`] if the cookie does not exist any more.
pub(crate) fn address_of(display: &str, private_folder: &Path) -> DesktopResult<X11Address> {
    let operation = "read the cookie of the display";
    let file = std::fs::read(private_folder.join("Xauthority"))
        .map_err(|error| DesktopError::failed(operation, error))?;
    let cookie = file.last_chunk().ok_or_else(|| DesktopError::failed(operation, "it is too short"))?;
    Ok(X11Address::Own { socket: socket_of(display), cookie: *cookie })
}

/// A message of the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub(crate) enum KeeperRequest {
    /// Keep the desktop for this long if the owner dies.
    Keep {
        /// In milliseconds.
        grace_ms: u64,
    },
    /// End the desktop.
    Close,
}

/// A message of the keeper, once per connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub(crate) enum KeeperReply {
    /// The desktop is ready.
    Ready {
        /// Handle to attach to it.
        handle: DesktopHandle,
        /// Startup times of its parts.
        startup: StartupTimes,
    },
    /// The desktop did not start.
    Failed {
        /// Description of the failure.
        what: String,
        /// Suggested remedy.
        fix: String,
    },
    /// Another owner uses the desktop.
    Busy,
}

/// One end of a connection between owner and keeper.
pub(crate) struct KeeperConnection {
    stream: BufReader<UnixStream>,
}

impl KeeperConnection {
    pub(crate) fn over(stream: UnixStream) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    pub(crate) async fn send<T: Serialize + Sync>(&mut self, what: &T) -> io::Result<()> {
        let mut text = serde_json::to_vec(what)?;
        text.push(b'\n');
        self.stream.get_mut().write_all(&text).await
    }

    /// The next message of the other side; `None` if it is gone.
    pub(crate) async fn receive<T: serde::de::DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
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
