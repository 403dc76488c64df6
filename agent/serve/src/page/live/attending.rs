//! The other end of a control socket.

use std::{io, time::Duration};

use crate::page::error::PageApiError;
use deskhand_runtime::{SessionFolder, people::connect_control};
use futures_util::FutureExt as _;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::unix::{OwnedReadHalf, OwnedWriteHalf},
    sync::{Notify, mpsc, oneshot},
    time::{Instant, interval, timeout, timeout_at},
};

/// The longest line that is read, in bytes.
const LINE_BYTES_MAX: u64 = 16 << 20;
/// Maximum time until a session that a process holds listens; some never do.
const LISTENS_WITHIN: Duration = Duration::from_secs(3);
/// Delay between connection attempts meanwhile.
const TRY_AGAIN: Duration = Duration::from_millis(50);
/// Maximum time for a session to process a line.
const TAKEN_IN_WITHIN: Duration = Duration::from_secs(3);
/// The most lines that wait to be sent.
const WAITING_MAX: usize = 64;
/// The most lines that are taken in at once.
const LINES_AT_ONCE: usize = 1_000;

/// The lines received from a running session.
pub(crate) struct ControlLines {
    read: BufReader<OwnedReadHalf>,
    /// A line of which the end has not come.
    begun: Vec<u8>,
}

/// The writer of lines to a running session.
pub(crate) struct ControlWriter(OwnedWriteHalf);

/// Connects; `None` if the session does not run.
pub(crate) async fn connect(folder: &SessionFolder) -> Option<(ControlLines, ControlWriter)> {
    let stream = connect_control(folder.path()).await.ok()?;
    let (read, write) = stream.into_split();
    Some((ControlLines { read: BufReader::new(read), begun: Vec::new() }, ControlWriter(write)))
}

impl ControlLines {
    /// The next line; `None` once the session has ended, or has cut off who did not read. Nothing is lost when this is dropped.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let room = LINE_BYTES_MAX.saturating_sub(len(&self.begun));
        let read = (&mut self.read).take(room).read_until(b'\n', &mut self.begun).await;
        if !read.is_ok_and(|read| read > 0) || !self.begun.ends_with(b"\n") {
            return None;
        }
        let line = std::mem::take(&mut self.begun);
        serde_json::from_slice(&line).ok().or(Some(Value::Null))
    }
}

impl ControlWriter {
    /// Sends a line.
    ///
    /// # Errors
    /// The session has ended.
    pub(crate) async fn send(&mut self, line: &str) -> io::Result<()> {
        self.0.write_all(line.as_bytes()).await?;
        self.0.write_all(b"\n").await
    }
}

/// A connection to a running session.
pub(super) struct ControlConnection {
    lines: ControlLines,
    writer: ControlWriter,
    wanted: mpsc::Receiver<OutgoingControlLine>,
}

/// A line to a session, and who hears that it was sent.
pub(super) struct OutgoingControlLine {
    pub(super) line: String,
    pub(super) sent: oneshot::Sender<()>,
}

impl ControlConnection {
    /// Connects; `None` if the session does not run. Lines that are sent go to the session. One that has just begun, or goes on, is held
    /// for a moment before it listens.
    pub(super) async fn of(folder: &SessionFolder) -> Option<(Self, mpsc::Sender<OutgoingControlLine>)> {
        let mut tries = interval(TRY_AGAIN);
        let connected = async {
            loop {
                tries.tick().await;
                // Asked first: one that has ended meanwhile does not listen any more.
                let is_held = folder.is_in_use().unwrap_or_default();
                match connect(folder).await {
                    None if is_held => {}
                    connected => return connected,
                }
            }
        };
        let (lines, writer) = timeout(LISTENS_WITHIN, connected).await.ok()??;
        let (sender, wanted) = mpsc::channel(WAITING_MAX);
        Some((Self { lines, writer, wanted }, sender))
    }

    /// The next line of the session; `None` once it has ended. Lines are sent to it meanwhile.
    pub(super) async fn next(&mut self) -> Option<Value> {
        loop {
            tokio::select! {
                wish = self.wanted.recv() => send(&mut self.writer, wish?).await.ok()?,
                line = self.lines.next() => return line,
            }
        }
    }

    /// Sends lines to the session until then, or until somebody is in a hurry. What it says waits.
    pub(super) async fn send_until(&mut self, then: Instant, hurry: &Notify) {
        let mut takes_in = true;
        loop {
            let next = async {
                tokio::select! {
                    wish = self.wanted.recv(), if takes_in => Some(wish),
                    () = hurry.notified() => None,
                }
            };
            let Ok(Some(wish)) = timeout_at(then, next).await else { return };
            takes_in = match wish {
                Some(wish) => send(&mut self.writer, wish).await.is_ok(),
                None => false,
            };
        }
    }

    /// The lines that are there already.
    pub(super) fn rest(&mut self) -> Vec<Value> {
        let lines = std::iter::from_fn(|| self.lines.next().now_or_never().flatten());
        lines.take(LINES_AT_ONCE).collect()
    }
}

/// Sends a line to a running session; what has to be awaited then, so that the session takes it in even if it says something meanwhile.
///
/// # Errors
/// The session does not run.
pub(super) async fn send_at_once(
    folder: &SessionFolder,
    line: &str,
) -> Result<impl Future<Output = ()> + Send + 'static + use<>, PageApiError> {
    let gone = || PageApiError::conflict("the session does not run");
    let (attending, _) = ControlConnection::of(folder).await.ok_or_else(gone)?;
    let ControlConnection { mut lines, mut writer, .. } = attending;
    writer.send(line).await.map_err(|_| gone())?;
    Ok(async move {
        timeout(TAKEN_IN_WITHIN, async { while lines.next().await.is_some() {} }).await.ok();
        drop(writer);
    })
}

/// Sends a line to a session.
async fn send(writer: &mut ControlWriter, wish: OutgoingControlLine) -> io::Result<()> {
    writer.send(&wish.line).await?;
    // Who does not wait for it does not mind.
    wish.sent.send(()).ok();
    Ok(())
}

fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
