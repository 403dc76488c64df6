//! A limit to what a server may send.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, ReadBuf};

/// The most that a server may send between two requests, in bytes.
const ANSWER_MAX: usize = 32 << 20;

/// Number of bytes received from a server since the last request. Shared with the code that sends requests.
#[derive(Debug, Clone, Default)]
pub(super) struct McpReceivedBytes(Arc<AtomicUsize>);

impl McpReceivedBytes {
    /// A request begins, and the server may send again.
    pub(super) fn restart(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Returns `true` if the server sent too much.
    pub(super) fn is_flood(&self) -> bool {
        self.0.load(Ordering::Relaxed) > ANSWER_MAX
    }
}

/// A reader that fails when a server sends too much.
pub(super) struct BoundedReader<R> {
    inner: R,
    received: McpReceivedBytes,
}

impl<R> BoundedReader<R> {
    pub(super) const fn new(inner: R, received: McpReceivedBytes) -> Self {
        Self { inner, received }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for BoundedReader<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.inner).poll_read(context, buffer);
        if let Poll::Ready(Ok(())) = read {
            let count = buffer.filled().len().saturating_sub(before);
            this.received.0.fetch_add(count, Ordering::Relaxed);
            if this.received.is_flood() {
                let megabytes = ANSWER_MAX >> 20;
                return Poll::Ready(Err(io::Error::other(format!("it sent more than {megabytes} MiB"))));
            }
        }
        read
    }
}
