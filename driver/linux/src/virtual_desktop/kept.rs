//! The life line between the owner of a virtual desktop and its keeper, from the owner's side.

use std::{
    io::{self, Write as _},
    os::unix::net::UnixStream as StdStream,
    time::Duration,
};

use deskhand_ui::duration::milliseconds;
use tokio::{io::AsyncReadExt as _, net::UnixStream, sync::oneshot};

use crate::virtual_desktop::protocol::KeeperRequest;

/// The life line between a desktop's owner and its keeper. Dropping it closes the desktop; only if this process dies
/// does the keeper hold it.
pub(crate) struct LifeLine {
    stream: Option<StdStream>,
    /// Resolves when a keeper that was started here has ended.
    ended: Option<oneshot::Receiver<()>>,
}

impl LifeLine {
    /// A life line over `stream`; `ended` resolves when a keeper that was started here has ended.
    pub(crate) fn new(stream: StdStream, ended: Option<oneshot::Receiver<()>>) -> Self {
        Self { stream: Some(stream), ended }
    }

    /// Sets how long the desktop is kept if this process dies.
    pub(crate) fn keep(&self, grace: Duration) -> io::Result<()> {
        self.send(KeeperRequest::Keep { grace_ms: milliseconds(grace) })
    }

    /// Ends the connection and leaves the desktop to the keeper, which holds it for this long.
    pub(crate) fn leave(mut self, grace: Duration) -> io::Result<()> {
        self.keep(grace)?;
        self.stream = None;
        Ok(())
    }

    fn send(&self, order: KeeperRequest) -> io::Result<()> {
        let mut text = serde_json::to_vec(&order)?;
        text.push(b'\n');
        match &self.stream {
            // A line this short fits into the socket buffer.
            Some(stream) => (&mut &*stream).write_all(&text),
            None => Ok(()),
        }
    }

    /// Closes the desktop and returns once nothing of it is left.
    pub(crate) async fn close(mut self) {
        let closed = self.send(KeeperRequest::Close);
        let stream = self.stream.take();
        let wait = async {
            let stream = stream.ok_or_else(|| io::Error::other("no connection"))?;
            let mut stream = UnixStream::from_std(stream)?;
            let mut rest = Vec::new();
            // The keeper sends nothing more; the connection ends when it does.
            stream.read_to_end(&mut rest).await?;
            Ok::<_, io::Error>(())
        };
        if let Err(error) = closed.and(wait.await) {
            tracing::debug!(%error, "the keeper has already ended");
        }
        if let Some(ended) = self.ended.take() {
            // An error means that the sender is gone, which is equivalent.
            let _ = ended.await;
        }
    }
}

impl Drop for LifeLine {
    fn drop(&mut self) {
        if let Err(error) = self.send(KeeperRequest::Close) {
            tracing::debug!(%error, "the keeper has already ended");
        }
    }
}
