//! Waits for a file to appear, without looking for it again and again.

use std::{io, path::Path};

use rustix::fs::inotify;
use tokio::net::unix::pipe;

/// Waits until a file is in a folder that is there. It may be there already.
///
/// # Errors
/// The folder cannot be watched.
pub(super) async fn appears(folder: &Path, name: &str) -> io::Result<()> {
    let watching = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
    inotify::add_watch(&watching, folder, inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO)?;
    // It is read as a pipe is.
    let watching = pipe::Receiver::from_owned_fd_unchecked(watching)?;
    let file = folder.join(name);
    while !file.try_exists()? {
        watching.readable().await?;
        // Which file it was does not matter: the loop looks.
        match watching.try_read(&mut [0_u8; 4096]) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}
