//! The other end of a control socket.

use std::io;

use deskhand_runtime::{SessionFolder, people::connect_control};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::unix::{OwnedReadHalf, OwnedWriteHalf},
    sync::{mpsc, oneshot},
};

/// The longest line that is read, in bytes.
const LINE_BYTES_MAX: u64 = 16 << 20;
/// The most lines that wait to be sent.
const WAITING_MAX: usize = 64;

/// A connection to a running session.
pub(super) struct Attending {
    read: BufReader<OwnedReadHalf>,
    write: OwnedWriteHalf,
    wanted: mpsc::Receiver<Wish>,
}

/// A line to a session, and who hears that it was sent.
pub(super) struct Wish {
    pub(super) line: String,
    pub(super) sent: oneshot::Sender<()>,
}

impl Attending {
    /// Connects; `None` if the session does not run. Lines that are sent go to the session.
    pub(super) async fn of(folder: &SessionFolder) -> Option<(Self, mpsc::Sender<Wish>)> {
        let stream = connect_control(folder.path()).await.ok()?;
        let (read, write) = stream.into_split();
        let (sender, wanted) = mpsc::channel(WAITING_MAX);
        Some((Self { read: BufReader::new(read), write, wanted }, sender))
    }

    /// The next line of the session, while lines are sent to it; `None` once its process has ended.
    pub(super) async fn next(&mut self) -> Option<Value> {
        let mut bytes = Vec::new();
        loop {
            let mut bounded = (&mut self.read).take(LINE_BYTES_MAX.saturating_sub(len(&bytes)));
            tokio::select! {
                read = bounded.read_until(b'\n', &mut bytes) => match read {
                    Ok(read) if read > 0 && bytes.ends_with(b"\n") => {
                        return serde_json::from_slice(&bytes).ok().or(Some(Value::Null));
                    }
                    Ok(_) | Err(_) => return None,
                },
                Some(wish) = self.wanted.recv() => {
                    if self.send(&wish.line).await.is_err() {
                        return None;
                    }
                    // Who does not wait for it does not mind.
                    wish.sent.send(()).ok();
                }
            }
        }
    }

    async fn send(&mut self, line: &str) -> io::Result<()> {
        self.write.write_all(line.as_bytes()).await?;
        self.write.write_all(b"\n").await
    }
}

fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
