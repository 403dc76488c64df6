//! The address of an X server.

use std::{os::unix::net::UnixStream, path::PathBuf};

use deskhand_desktop::{DesktopError, DesktopResult};
use x11rb::rust_connection::{DefaultStream, RustConnection};

/// The address of an X server.
#[derive(Debug, Clone)]
pub(crate) enum X11Address {
    /// The display that `DISPLAY` and `XAUTHORITY` of the environment name.
    Environment,
    /// A virtual display that we started.
    Own {
        /// Its socket.
        socket: PathBuf,
        /// Its cookie.
        cookie: [u8; 16],
    },
}

impl X11Address {
    /// The name of the display of the environment, for messages.
    pub(crate) fn name_of_environment() -> String {
        std::env::var("DISPLAY").unwrap_or_else(|_| "of this session".to_owned())
    }

    /// Connects. Blocking, but the connection is local.
    pub(crate) fn connect(&self) -> DesktopResult<(RustConnection, usize)> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| {
            DesktopError::failed("connect to the X server", source)
        };
        match self {
            Self::Environment => RustConnection::connect(None).map_err(|error| failed(error.into())),
            Self::Own { socket, cookie } => {
                let stream = UnixStream::connect(socket).map_err(|error| failed(error.into()))?;
                let (stream, _) =
                    DefaultStream::from_unix_stream(stream).map_err(|error| failed(error.into()))?;
                let connection = RustConnection::connect_to_stream_with_auth_info(
                    stream,
                    0,
                    b"MIT-MAGIC-COOKIE-1".to_vec(),
                    cookie.to_vec(),
                )
                .map_err(|error| failed(error.into()))?;
                Ok((connection, 0))
            }
        }
    }
}

/// The socket of a local display.
pub(crate) fn socket_of(display: &str) -> PathBuf {
    PathBuf::from(format!("/tmp/.X11-unix/X{}", display.trim_start_matches(':')))
}
