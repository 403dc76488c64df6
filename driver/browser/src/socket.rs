//! The socket on which calls are answered.

use std::{
    fs,
    io::{self, ErrorKind},
    os::unix::fs::{FileTypeExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{UnixListener, UnixStream, unix::OwnedWriteHalf},
    sync::watch,
    time::timeout,
};

use crate::{
    browser::BrowserConnection,
    call::BrowserCall,
    framing::{DecodedMessage, DelimitedMessageDecoder},
    tools::run,
    wire::{BrowserCallError, BrowserCallOutput, BrowserCallRequest, REQUEST_BYTES_MAX, answer_line},
};

/// Timeout for a call.
const CALL_BOUND: Duration = Duration::from_secs(30);
/// Maximum time for a client to read a reply.
const WRITE_BOUND: Duration = Duration::from_secs(30);
/// Only the owner may connect.
const PRIVATE_FILE: u32 = 0o600;

/// Availability of the browser.
#[derive(Debug, Clone)]
pub(crate) enum BrowserReadiness {
    Starting,
    Ready(BrowserConnection),
    /// Why it cannot.
    Absent(String),
}

/// A socket, and the lock that says that it is served.
pub(crate) struct LockedListener {
    pub(crate) listener: UnixListener,
    _lock: fs::File,
}

/// Binds the socket, unless a process serves it. What a process that ended has left is removed.
pub(crate) async fn bind(path: &Path) -> io::Result<Option<LockedListener>> {
    // Two that start at once would remove each other's socket without it.
    let lock = fs::File::create(lock_path(path))?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(None),
        result => result?,
    }
    match UnixStream::connect(path).await {
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            // Anything else than a socket is not ours to remove.
            if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket()) {
                fs::remove_file(path)?;
            }
        }
        Err(error) => return Err(error),
    }
    let listener = UnixListener::bind(path)?;
    // The folder is private already.
    fs::set_permissions(path, fs::Permissions::from_mode(PRIVATE_FILE))?;
    Ok(Some(LockedListener { listener, _lock: lock }))
}

/// The lock stays when the socket is removed: it may be opened by another holder already.
fn lock_path(socket: &Path) -> PathBuf {
    let mut path = socket.as_os_str().to_owned();
    path.push(".lock");
    path.into()
}

/// Answers the calls of one client, one after the other, until it goes.
pub(crate) async fn serve_client(stream: UnixStream, reach: watch::Receiver<BrowserReadiness>) {
    let (mut reading, mut writing) = stream.into_split();
    let mut frames = DelimitedMessageDecoder::new(b'\n', REQUEST_BYTES_MAX);
    let mut bytes = Vec::with_capacity(1 << 14);
    loop {
        bytes.clear();
        match reading.read_buf(&mut bytes).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        for frame in frames.push(&bytes) {
            let line = answered(frame, &reach).await;
            if !write(&mut writing, &line).await {
                return;
            }
        }
    }
}

/// Returns `true` if the client took it.
async fn write(writing: &mut OwnedWriteHalf, line: &[u8]) -> bool {
    matches!(timeout(WRITE_BOUND, writing.write_all(line)).await, Ok(Ok(())))
}

async fn answered(frame: DecodedMessage, reach: &watch::Receiver<BrowserReadiness>) -> Vec<u8> {
    let message = match frame {
        DecodedMessage::Message(message) => message,
        DecodedMessage::TooLong => {
            let message = format!("the request has more than {REQUEST_BYTES_MAX} bytes; send less");
            return answer_line(None, Err(BrowserCallError::Invalid(message)));
        }
    };
    let request: BrowserCallRequest = match serde_json::from_slice(&message) {
        Ok(request) => request,
        Err(error) => {
            let message = format!("the request cannot be read ({error}); send one JSON object in a line");
            return answer_line(None, Err(BrowserCallError::Invalid(message)));
        }
    };
    let id = Some(request.id);
    match perform(request, reach).await {
        Ok(good) => answer_line(id, Ok(&good)),
        Err(trouble) => answer_line(id, Err(trouble)),
    }
}

async fn perform(
    request: BrowserCallRequest,
    reach: &watch::Receiver<BrowserReadiness>,
) -> Result<BrowserCallOutput, BrowserCallError> {
    let BrowserCallRequest { window, tool, arguments, .. } = request;
    let call = BrowserCall::parse(&tool, arguments)?;
    let mut browser = None;
    let called = async {
        let ready = browser.insert(ready(reach.clone()).await?);
        run(ready, &window, call).await
    };
    match timeout(CALL_BOUND, called).await {
        Ok(result) => result,
        Err(_) => Err(BrowserCallError::Busy(busy(browser.as_ref()))),
    }
}

async fn ready(mut reach: watch::Receiver<BrowserReadiness>) -> Result<BrowserConnection, BrowserCallError> {
    let gone = || BrowserCallError::NoPages("the browser has ended; open it again".to_owned());
    let reached =
        reach.wait_for(|reach| !matches!(reach, BrowserReadiness::Starting)).await.map_err(|_| gone())?;
    match &*reached {
        BrowserReadiness::Ready(browser) => Ok(browser.clone()),
        BrowserReadiness::Absent(reason) => Err(BrowserCallError::NoPages(reason.clone())),
        BrowserReadiness::Starting => Err(gone()),
    }
}

fn busy(browser: Option<&BrowserConnection>) -> String {
    let limit = CALL_BOUND.as_secs();
    let Some(browser) = browser else {
        return format!("the browser has not started within {limit} seconds; try again later");
    };
    let state = browser.link().state();
    match state.pages.iter().find(|page| page.dialog.is_some()) {
        Some(page) => format!(
            "the page did not answer within {limit} seconds; the dialog of the page {:?} may block it: answer it first",
            page.title
        ),
        None => {
            format!("the page did not answer within {limit} seconds; look at its window, and try again later")
        }
    }
}
