//! One client of a control socket.

use std::{future::pending, sync::Arc, time::Duration};

use deskhand_ui::ids::SessionId;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{
        mpsc::{self, error::TrySendError},
        watch,
    },
    time::{Instant, timeout_at},
};

use super::{ControlClient, ControlSocketState};
use crate::{
    people::{
        InputLine, InputLines, JsonFrontend, LINE_BYTES_MAX, console::console_beside, protocol::FromSession,
    },
    waiting::SessionWait,
};

/// The most lines that wait for a client to read them; then it is cut off.
const LINES_MAX: usize = 256;
/// The shortest time between two reports of what the session waits for.
const WAITS_EVERY: Duration = Duration::from_millis(100);

/// Serves a client until it leaves, does not read, or this is dropped.
pub(super) async fn serve(
    stream: UnixStream,
    number: u64,
    session: SessionId,
    shared: Arc<ControlSocketState>,
) {
    let (read, write) = stream.into_split();
    let (sender, lines) = mpsc::channel(LINES_MAX);
    let gone = watch::Sender::new(false);
    let cut = gone.clone();
    let frontend = JsonFrontend::new(Box::new(move |line| {
        if matches!(sender.try_send(text_of(line)), Err(TrySendError::Full(_))) {
            cut.send_replace(true);
        }
    }));
    let (input, heard) = InputLines::channel();
    let steered = &shared.session;
    let switches = (steered.stop.clone(), steered.pause.clone());
    let (console, listener) =
        console_beside(heard, frontend, switches, shared.words.clone(), shared.steering);
    let paused = steered.pause.is_paused();
    let begun = FromSession::Attached { session: &session.0, seq: *shared.seq.borrow(), paused };
    let writing = ControlClientWriter { write, lines, begun: text_of(&begun) };
    let client = ControlClient { number, console: Arc::new(console) };
    // From here on it is asked.
    shared.clients.send_modify(|clients| clients.push(client));
    let _leaving = ControlClientGuard { shared: &shared, number };
    let mut gone = gone.subscribe();
    // Who closes their end at once has perhaps written before: that nothing can be written to them ends nothing.
    let written = async {
        writing.write_all(shared.seq.subscribe(), steered.waits.follow()).await;
        pending::<()>().await;
    };
    tokio::select! {
        () = written => {}
        () = listener.listen() => {}
        () = read_lines(read, input) => {}
        _ = gone.wait_for(|gone| *gone) => tracing::info!(number, "a client of the control socket does not read"),
    }
}

/// Takes the client out of those who are asked.
struct ControlClientGuard<'a> {
    shared: &'a ControlSocketState,
    number: u64,
}

impl Drop for ControlClientGuard<'_> {
    fn drop(&mut self) {
        self.shared.clients.send_modify(|clients| clients.retain(|client| client.number != self.number));
    }
}

fn text_of(line: &FromSession<'_>) -> String {
    serde_json::to_string(line).unwrap_or_default()
}

/// Reads lines until the client closes its end, and what it sent last has been taken in.
async fn read_lines(read: OwnedReadHalf, input: mpsc::Sender<InputLine>) {
    let mut read = BufReader::new(read);
    loop {
        let mut bytes = Vec::new();
        let room = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
        let read = (&mut read).take(room).read_until(b'\n', &mut bytes).await;
        // Nobody writes a line over the limit by mistake.
        if !read.is_ok_and(|read| read > 0) || !bytes.ends_with(b"\n") {
            // Once all places are free, every line has been read.
            drop(input.reserve_many(input.max_capacity()).await);
            return;
        }
        let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        if input.send(InputLine::Text(text)).await.is_err() {
            return;
        }
    }
}

/// The write half of a client connection.
struct ControlClientWriter {
    write: OwnedWriteHalf,
    lines: mpsc::Receiver<String>,
    /// The first line.
    begun: String,
}

impl ControlClientWriter {
    /// Writes until the client is gone.
    async fn write_all(
        mut self,
        mut seq: watch::Receiver<u64>,
        mut waits: watch::Receiver<Option<SessionWait>>,
    ) {
        seq.mark_unchanged();
        waits.mark_changed();
        let (mut next_wait, mut is_due) = (Instant::now(), false);
        let begun = std::mem::take(&mut self.begun);
        if !self.line(&begun).await {
            return;
        }
        loop {
            let line = tokio::select! {
                line = self.lines.recv() => match line {
                    Some(line) => line,
                    None => return,
                },
                Ok(()) = seq.changed() => {
                    let seq = *seq.borrow_and_update();
                    text_of(&FromSession::Recorded { seq })
                }
                Ok(()) = waits.changed() => {
                    is_due = true;
                    continue;
                }
                // Until then, what comes last counts.
                _ = timeout_at(next_wait, pending::<()>()), if is_due => {
                    (next_wait, is_due) = (Instant::now() + WAITS_EVERY, false);
                    let waiting = waits.borrow_and_update().clone();
                    let Some(waiting) = waiting else { continue };
                    text_of(&FromSession::waiting(&waiting, Instant::now()))
                }
                else => return,
            };
            if !self.line(&line).await {
                return;
            }
        }
    }

    /// Writes a line; `false` if the client is gone.
    async fn line(&mut self, line: &str) -> bool {
        let bytes = format!("{line}\n");
        self.write.write_all(bytes.as_bytes()).await.is_ok()
    }
}
