//! The two pipes of Chromium: it reads messages from file descriptor 3 and writes them to 4; each ends with a NUL byte.

use std::{io, os::fd::OwnedFd};

use command_fds::{CommandFdExt as _, FdMapping};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::unix::pipe,
    process::Command,
    sync::mpsc,
};

use super::{first_messages, on_event};
use crate::{
    framing::{DecodedMessage, DelimitedMessageDecoder},
    link::{BrowserClient, drive, link},
};

/// The longest message that is read.
const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// The file descriptors of the browser.
const READS_FROM: i32 = 3;
const WRITES_TO: i32 = 4;

/// Our ends of the pipes.
pub(crate) struct Pipes {
    reading: pipe::Receiver,
    writing: pipe::Sender,
}

impl Pipes {
    /// Gives a command the other ends. They are closed here when the command is dropped.
    pub(crate) fn new(command: &mut Command) -> io::Result<Self> {
        let (theirs_to_read, writing) = io::pipe()?;
        let (reading, theirs_to_write) = io::pipe()?;
        let mappings = vec![
            FdMapping { parent_fd: OwnedFd::from(theirs_to_read), child_fd: READS_FROM },
            FdMapping { parent_fd: OwnedFd::from(theirs_to_write), child_fd: WRITES_TO },
        ];
        command.fd_mappings(mappings).map_err(io::Error::other)?;
        Ok(Self {
            reading: pipe::Receiver::from_owned_fd(reading.into())?,
            writing: pipe::Sender::from_owned_fd(writing.into())?,
        })
    }
}

/// The link to the browser, and the future that serves it until the browser closes the pipes.
pub(crate) fn serve(pipes: Pipes) -> (BrowserClient, impl Future<Output = io::Result<()>>) {
    let (link, driver, outbound) = link(on_event);
    let Pipes { reading, writing } = pipes;
    let served = async move {
        let inbound = std::pin::pin!(messages(reading));
        tokio::select! {
            done = drive(driver, first_messages(), inbound) => done,
            failed = write(writing, outbound) => failed,
        }
    };
    (link, served)
}

async fn write(mut pipe: pipe::Sender, mut outbound: mpsc::Receiver<Vec<u8>>) -> io::Result<()> {
    while let Some(mut message) = outbound.recv().await {
        message.push(0);
        pipe.write_all(&message).await?;
    }
    Ok(())
}

fn messages(pipe: pipe::Receiver) -> impl Stream<Item = io::Result<Vec<u8>>> {
    let start = (pipe, DelimitedMessageDecoder::new(0, MESSAGE_BYTES_MAX), Vec::with_capacity(1 << 16));
    let read = stream::unfold(start, |(mut pipe, mut frames, mut bytes)| async move {
        bytes.clear();
        match pipe.read_buf(&mut bytes).await {
            Ok(0) => None,
            Ok(_) => {
                let found: Vec<_> = frames.push(&bytes).into_iter().filter_map(message).collect();
                Some((found, (pipe, frames, bytes)))
            }
            Err(error) => Some((vec![Err(error)], (pipe, frames, bytes))),
        }
    });
    read.map(stream::iter).flatten()
}

fn message(frame: DecodedMessage) -> Option<io::Result<Vec<u8>>> {
    match frame {
        DecodedMessage::Message(message) => Some(Ok(message)),
        DecodedMessage::TooLong => {
            tracing::warn!("a message of the browser was too long");
            None
        }
    }
}
