//! Messages as lines over a pair of streams. Each line that is no message is answered with its code; none ends the connection.

use std::{io, sync::Arc, time::Duration};

use rmcp::{
    RoleServer,
    model::ClientJsonRpcMessage,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde::Serialize;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::{Semaphore, mpsc, oneshot},
    task::JoinSet,
    time::timeout,
};

use super::message::{InvalidJsonRpcMessage, check};

/// The longest line, in bytes.
const LINE_MAX: usize = 8 << 20;

/// Messages that wait to be written; with as many more, nothing is read until the client reads.
const WAITING_MAX: usize = 64;
const UNREAD_MAX: usize = 1_024;
/// Maximum time to write the last messages.
const CLOSE_BOUND: Duration = Duration::from_secs(5);

/// A line to write, and who waits for it.
type Sent = (Vec<u8>, oneshot::Sender<io::Result<()>>);

/// Lines of messages.
pub(in crate::mcp) struct JsonRpcLineReader<R> {
    input: BufReader<R>,
    /// The line that is being read: reading may be interrupted.
    line: Vec<u8>,
    /// Set while the rest of a line that is too long is discarded.
    skips: bool,
    /// Set once a request came. Before that, there is nothing to notify about or to answer.
    begun: bool,
    output: Option<mpsc::Sender<Sent>>,
    /// The messages that may still be sent before the client reads.
    room: Arc<Semaphore>,
    writing: JoinSet<()>,
    /// An answer that is to be sent before anything else is read.
    refusal: Option<InvalidJsonRpcMessage>,
}

impl<R: AsyncRead + Unpin> JsonRpcLineReader<R> {
    pub(in crate::mcp) fn new<W: AsyncWrite + Send + Unpin + 'static>(input: R, output: W) -> Self {
        let (sender, lines) = mpsc::channel(WAITING_MAX);
        let mut writing = JoinSet::new();
        writing.spawn(write_all(output, lines));
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            skips: false,
            begun: false,
            output: Some(sender),
            room: Arc::new(Semaphore::new(UNREAD_MAX)),
            writing,
            refusal: None,
        }
    }

    /// Reads up to the end of a line; `None` at the end of the stream. Cancelling it loses nothing.
    async fn read(&mut self) -> Option<()> {
        loop {
            let read = match self.input.fill_buf().await {
                Ok(read) if !read.is_empty() => read,
                Ok(_) => return None,
                Err(error) => {
                    tracing::debug!(%error, "reading from a client");
                    return None;
                }
            };
            let end = read.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(read.len(), |end| end.saturating_add(1));
            if !self.skips {
                if self.line.len().saturating_add(taken) > LINE_MAX {
                    self.skips = true;
                    self.line = Vec::new();
                } else {
                    self.line.extend_from_slice(read.get(..taken).unwrap_or_default());
                }
            }
            self.input.consume(taken);
            if end.is_some() {
                return Some(());
            }
        }
    }

    /// The message of the line that was read; `None` if it is to be passed over.
    fn message(&mut self) -> Option<ClientJsonRpcMessage> {
        if std::mem::take(&mut self.skips) {
            self.refusal = Some(InvalidJsonRpcMessage::too_large(LINE_MAX));
            return None;
        }
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        match parse(&line) {
            Ok(message) => {
                self.begun |= matches!(message, ClientJsonRpcMessage::Request(_));
                Some(message).filter(|_| self.begun)
            }
            Err(refusal) => {
                self.refusal = Some(refusal);
                None
            }
        }
    }
}

fn parse(line: &[u8]) -> Result<ClientJsonRpcMessage, InvalidJsonRpcMessage> {
    let value = check(line)?;
    serde_json::from_value(value.clone()).map_err(|_| InvalidJsonRpcMessage::unknown_form(&value))
}

/// Writes each line as a whole, whoever gives up waiting for it.
async fn write_all<W: AsyncWrite + Unpin>(mut output: W, mut lines: mpsc::Receiver<Sent>) {
    while let Some((line, waiting)) = lines.recv().await {
        let written = async {
            output.write_all(&line).await?;
            output.flush().await
        };
        waiting.send(written.await).ok();
    }
}

fn line_of(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for JsonRpcLineReader<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (output, room) = (self.output.clone(), Arc::clone(&self.room));
        async move {
            // What is in progress is sent in any case.
            let _place = room.try_acquire();
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            let (waiting, written) = oneshot::channel();
            let line = line_of(&item)?;
            output.ok_or_else(closed)?.send((line, waiting)).await.map_err(|_| closed())?;
            written.await.map_err(|_| closed())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            drop(self.room.acquire().await.ok()?);
            if let Some(refusal) = &self.refusal {
                let line = line_of(&refusal.to_answer()).ok()?;
                // Nothing is lost if this wait is interrupted.
                let place = self.output.as_ref()?.reserve().await.ok()?;
                place.send((line, oneshot::channel().0));
                self.refusal = None;
            }
            self.read().await?;
            if let Some(message) = self.message() {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output = None;
        let written = async { while self.writing.join_next().await.is_some() {} };
        timeout(CLOSE_BOUND, written).await.map_err(|_| io::ErrorKind::TimedOut.into())
    }
}
