//! Both ends of a control socket: bound, accepted, connected. Each end checks the process at the other one.

use std::{
    fs, io,
    os::{fd::AsRawFd as _, unix::fs::PermissionsExt as _},
    path::{Path, PathBuf},
};

use deskhand_process::check_peer;
use tokio::net::{UnixListener, UnixStream};

/// The name of the socket in the folder of its session.
pub const CONTROL_SOCKET: &str = "control.sock";
/// The name of the socket before it listens.
const CONTROL_BEGUN: &str = ".control.sock";

/// A bound control socket. Only processes of the same user that were not started for an agent come through: who answers here answers for
/// the user.
#[derive(Debug)]
pub struct ControlListener(UnixListener);

impl ControlListener {
    /// Binds the socket of a folder, in place of one of a process that was killed. It gets its name once it listens, so that who sees it
    /// can connect. The path of a socket may have 107 bytes, and that of a folder many more: it is bound by way of the open folder.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub fn bind(folder: &Path) -> io::Result<Self> {
        let open = fs::File::open(folder)?;
        let begun = short_path(&open, CONTROL_BEGUN);
        match fs::remove_file(&begun) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(&begun)?;
        fs::set_permissions(&begun, fs::Permissions::from_mode(0o600))?;
        fs::rename(&begun, short_path(&open, CONTROL_SOCKET))?;
        Ok(Self(listener))
    }

    /// The next client. Others are cut off and logged.
    ///
    /// # Errors
    /// The socket takes no more clients.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.0.accept().await?;
            match check_peer(&stream) {
                Ok(()) => return Ok(stream),
                Err(refusal) => tracing::warn!(%refusal, "a client of the control socket is refused"),
            }
        }
    }
}

/// Connects to the control socket in the folder of a session.
///
/// # Errors
/// The session does not run, or it has no control socket, or something that was started for an agent listens in its place.
pub async fn connect_control(folder: &Path) -> io::Result<UnixStream> {
    let open = fs::File::open(folder)?;
    let stream = UnixStream::connect(short_path(&open, CONTROL_SOCKET)).await?;
    check_peer(&stream).map_err(|refusal| io::Error::new(io::ErrorKind::PermissionDenied, refusal))?;
    Ok(stream)
}

fn short_path(folder: &fs::File, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd()))
}
