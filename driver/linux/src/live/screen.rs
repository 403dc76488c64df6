//! A viewer of a screen: what changed since it last asked.

use std::{
    os::fd::OwnedFd,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use deskhand_desktop::{DesktopError, DesktopResult};
use deskhand_ui::geometry::Size;
use rustix::event::{EventfdFlags, eventfd};
use tokio::sync::oneshot;

use super::{
    eye::{self, Asked, ViewerSignals},
    update::ScreenUpdate,
};
use crate::{
    virtual_desktop::protocol::{DesktopHandle, address_of},
    x11::{address::X11Address, fault::gone},
};

/// Maximum time for an X server to accept the connection of a viewer.
const OPEN_BOUND: Duration = Duration::from_secs(5);

/// A viewer of a screen. It has a connection of its own to the X server, and a thread that ends when it is dropped.
#[derive(Debug)]
pub struct LiveScreen {
    /// `None` while it is dropped.
    requests: Option<mpsc::Sender<Asked>>,
    /// Wakes the thread.
    wake: Arc<OwnedFd>,
    /// An answer that was asked for and not taken yet, as when a call of [`Self::next`] is cancelled.
    awaited: Option<oneshot::Receiver<DesktopResult<ScreenUpdate>>>,
    /// Set while a caller waits.
    waiting: Arc<AtomicBool>,
    size: Size,
    name: String,
}

impl LiveScreen {
    /// Opens the screen of a virtual desktop that a keeper holds. Its session is not involved.
    ///
    /// # Errors
    /// [`DesktopError`] if its X server is gone, does not answer, or cannot tell what is drawn (no DAMAGE extension).
    pub async fn open(handle: &DesktopHandle) -> DesktopResult<Self> {
        Self::open_at(handle.address()?, handle.display.clone()).await
    }

    /// Opens the screen of a virtual desktop of this process: its display, and its private folder.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_private(display: &str, private_folder: &Path) -> DesktopResult<Self> {
        Self::open_at(address_of(display, private_folder)?, display.to_owned()).await
    }

    /// Opens the screen that `DISPLAY` and `XAUTHORITY` of the environment name.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_current() -> DesktopResult<Self> {
        Self::open_at(X11Address::Environment, X11Address::name_of_environment()).await
    }

    async fn open_at(address: X11Address, name: String) -> DesktopResult<Self> {
        let operation = "open the screen of a desktop";
        let failed = |error: std::io::Error| DesktopError::failed(operation, error);
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let wake = Arc::new(eventfd(0, flags).map_err(|error| failed(error.into()))?);
        let (requests, asked) = mpsc::channel();
        let (opened, size) = oneshot::channel();
        let waiting = Arc::new(AtomicBool::new(false));
        let signals = ViewerSignals { wake: Arc::clone(&wake), waiting: Arc::clone(&waiting) };
        let called = name.clone();
        thread::Builder::new()
            .name("live-screen".to_owned())
            .spawn(move || eye::run(&address, &called, &asked, signals, opened))
            .map_err(failed)?;
        let size = tokio::time::timeout(OPEN_BOUND, size)
            .await
            .map_err(|_| DesktopError::Gone {
                what: format!("the X server of display {name} does not answer"),
            })?
            .map_err(|_| gone(&name))??;
        Ok(Self { requests: Some(requests), wake, awaited: None, waiting, size, name })
    }

    /// Returns the changes since the last call.
    ///
    /// The first update shows the whole screen, and so does the first one after the size of the screen has
    /// changed. Later calls wait until pixels or the position of the pointer differ from the last update; all
    /// changes since then come in one update, however long the caller took. Updates are at least 40 ms apart,
    /// 240 ms while all processors are busy, plus the time that their preparation takes.
    ///
    /// A call can be cancelled: nothing is lost, and nothing more is read for it.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] when the X server has ended, now and from then on; [`DesktopError::Failed`] if
    /// pixels cannot be read.
    pub async fn next(&mut self) -> DesktopResult<ScreenUpdate> {
        let awaited = match self.awaited.take() {
            Some(awaited) => awaited,
            None => self.ask()?,
        };
        // It stays there if this is cancelled.
        let awaited = self.awaited.insert(awaited);
        self.waiting.store(true, Ordering::Release);
        let waiting = ViewerWaitGuard(&self.waiting);
        wake(&self.wake);
        let update = awaited.await;
        drop(waiting);
        self.awaited = None;
        let update = update.map_err(|_| gone(&self.name))??;
        self.size = update.screen;
        Ok(update)
    }

    /// The size of the screen as of the last update, or when the viewer was opened.
    pub const fn size(&self) -> Size {
        self.size
    }

    fn ask(&self) -> DesktopResult<oneshot::Receiver<DesktopResult<ScreenUpdate>>> {
        let (sender, awaited) = oneshot::channel();
        let sent = self.requests.as_ref().map(|requests| requests.send(sender));
        if !matches!(sent, Some(Ok(()))) {
            return Err(gone(&self.name));
        }
        Ok(awaited)
    }
}

/// While it exists, somebody waits.
struct ViewerWaitGuard<'screen>(&'screen AtomicBool);

impl Drop for ViewerWaitGuard<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

fn wake(thread: &OwnedFd) {
    // It fails only if the thread has been woken very often and has not looked: then it will.
    let _ = rustix::io::write(thread, &1_u64.to_ne_bytes());
}

impl Drop for LiveScreen {
    fn drop(&mut self) {
        // The thread ends when it wakes and nobody can ask any more.
        self.requests = None;
        wake(&self.wake);
    }
}
