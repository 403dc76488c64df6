//! A VNC server for a virtual desktop, so that a person can look at it and take part.

use std::{fs, io::Write as _, os::unix::fs::OpenOptionsExt as _, process::Stdio, time::Duration};

use deskhand_desktop::{DesktopError, DesktopResult};
use deskhand_process::{OWN_FOLDER, find_helper};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};

use super::{Environment, protocol::DesktopHandle};

/// The program.
const SERVER: &str = "x11vnc";
/// The first port that is tried.
const PORT_FIRST: &str = "5900";
/// Maximum time for the server to report its port.
const PORT_BOUND: Duration = Duration::from_secs(10);
/// The lines before the one with the port.
const LINES_MAX: usize = 200;
/// The letters of a password, and its length: VNC uses no more than eight.
const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
const PASSWORD_LENGTH: usize = 8;

/// Permissions of a viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VncInput {
    /// Look at the desktop, type and click.
    Full,
    /// Only look.
    ViewOnly,
}

/// A VNC server on the loopback address. It ends when it is dropped.
#[derive(Debug)]
pub struct VncServer {
    server: Child,
    /// Its TCP port.
    pub port: u16,
    /// Its password; it is new for each server.
    pub password: String,
}

impl VncServer {
    /// Starts a server for the desktop of a handle; `None` if `x11vnc` is not installed.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if it does not start.
    pub async fn start(handle: &DesktopHandle, input: VncInput) -> DesktopResult<Option<Self>> {
        let failed = |error: &dyn std::fmt::Display| DesktopError::failed("start x11vnc", error.to_string());
        let Some(program) = find_helper(SERVER, Environment::of_this_process().path()) else {
            return Ok(None);
        };
        let password = password().map_err(|error| failed(&error))?;
        let file = handle.private_folder.join(OWN_FOLDER).join("vnc-password");
        let mut options = fs::OpenOptions::new();
        let written = options.write(true).create(true).truncate(true).mode(0o600).open(&file);
        written.and_then(|mut file| writeln!(file, "{password}")).map_err(|error| failed(&error))?;
        let mut command = Command::new(program);
        command.args(["-display", &handle.display, "-localhost", "-no6", "-noipv6", "-forever", "-shared"]);
        command.args(["-quiet", "-norc", "-noxdamage", "-autoport", PORT_FIRST]);
        command.arg("-auth").arg(handle.private_folder.join("Xauthority"));
        // `rm:` removes the file once it is read.
        command.arg("-passwdfile").arg(format!("rm:{}", file.display()));
        if input == VncInput::ViewOnly {
            command.arg("-viewonly");
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut server = command.spawn().map_err(|error| failed(&error))?;
        let output = server.stdout.take().ok_or_else(|| failed(&"it has no output"))?;
        let mut lines = BufReader::new(output).lines();
        let port = async {
            for _ in 0..LINES_MAX {
                let line = lines.next_line().await.ok().flatten()?;
                if let Some(port) = line.strip_prefix("PORT=") {
                    return port.trim().parse().ok();
                }
            }
            None
        };
        match timeout(PORT_BOUND, port).await {
            Ok(Some(port)) => Ok(Some(Self { server, port, password })),
            Ok(None) | Err(_) => Err(failed(&"it reported no port")),
        }
    }

    /// Waits until the server ends, as it does with its desktop.
    pub async fn ended(&mut self) {
        // An error means that it has ended already.
        self.server.wait().await.ok();
    }
}

fn password() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; PASSWORD_LENGTH];
    getrandom::fill(&mut bytes)?;
    let letter = |byte: &u8| LETTERS.get(usize::from(*byte) % LETTERS.len()).copied().map(char::from);
    Ok(bytes.iter().filter_map(letter).collect())
}
