//! Waits for a file to appear, without looking for it again and again.

use std::{io, path::Path};

use deskhand_runtime::private;
use rustix::fs::inotify;
use tokio::net::unix::pipe;

/// Waits until something in a folder is another, which is made if it is not there.
///
/// # Errors
/// The folder cannot be watched.
pub(super) async fn changes(folder: &Path) -> io::Result<()> {
    private::create_folders(folder)?;
    watching(folder)?.readable().await
}

/// Returns a receiver that becomes readable when a file comes into a folder or leaves it. Reads work as on a
/// pipe.
fn watching(folder: &Path) -> io::Result<pipe::Receiver> {
    let watching = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
    let changes = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO | inotify::WatchFlags::DELETE;
    inotify::add_watch(&watching, folder, changes)?;
    pipe::Receiver::from_owned_fd_unchecked(watching)
}

/// Waits until a file is in a folder that is there. It may be there already.
///
/// # Errors
/// The folder cannot be watched.
pub(super) async fn appears(folder: &Path, name: &str) -> io::Result<()> {
    let watching = watching(folder)?;
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
