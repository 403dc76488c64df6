//! The connection to an X server: one thread that owns it, behind a channel.
//!
//! Callers send the thread a closure and await its result. A server that is gone fails every call at once; one that
//! hangs fails it after [`ANSWER_BOUND`].

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use deskhand_desktop::{CancelScope, DesktopError, DesktopResult};
use deskhand_ui::geometry::{Point, Rect, Screen, Size};
use tokio::sync::{broadcast, oneshot, watch};
use tokio_util::sync::CancellationToken;
use x11rb::{
    COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT,
    connection::Connection,
    protocol::xproto::{ConnectionExt as _, CreateWindowAux, EventMask, WindowClass},
    rust_connection::RustConnection,
};

use super::{
    address::X11Address,
    events::{EventReader, X11EventSenders},
    fault::{WorkResult, X11RequestError, gone},
    worker::{Atoms, X11Worker},
};
use crate::screen::{ScreenEvent, events::DrawnLog, window_ids::WindowIdRegistry};

/// Maximum time for an X server to answer before it counts as gone.
const ANSWER_BOUND: Duration = Duration::from_secs(5);
/// Number of events that a slow reader may fall behind before it misses some.
const EVENTS_KEPT: usize = 1024;

type Job = Box<dyn FnOnce(&mut X11Worker) + Send>;

/// A handle to an X server; the threads behind it end when it is dropped.
pub(crate) struct X11Display {
    jobs: mpsc::Sender<Job>,
    events: broadcast::Sender<ScreenEvent>,
    pongs: watch::Receiver<u32>,
    drags: watch::Receiver<u32>,
    fences: watch::Receiver<u32>,
    last_fence: AtomicU32,
    drawn: Arc<Mutex<DrawnLog>>,
    gone: CancellationToken,
    registry: Arc<Mutex<WindowIdRegistry>>,
    address: X11Address,
    name: String,
    size: Size,
}

impl X11Display {
    /// Opens two connections, one for requests and one for events, and starts a thread for each. Blocking.
    pub(crate) fn open(address: &X11Address, name: String) -> DesktopResult<Self> {
        let (requests, screen) = address.connect()?;
        let (listening, _) = address.connect()?;
        let operation = "set up the connection to the X server";
        let wrap = |fault: X11RequestError| fault.into_desktop_error(operation, &name);
        let atoms = intern(&requests).map_err(wrap)?;
        let root = requests.setup().roots.get(screen).ok_or_else(|| {
            DesktopError::failed(operation, format!("display {name} has no screen {screen}"))
        })?;
        let size = Size { width: root.width_in_pixels, height: root.height_in_pixels };
        let root = root.root;
        let own_window = create_own_window(&listening, root).map_err(wrap)?;

        let (events, _) = broadcast::channel(EVENTS_KEPT);
        let (pong_sender, pongs) = watch::channel(0);
        let (drag_sender, drags) = watch::channel(0);
        let (fence_sender, fences) = watch::channel(0);
        let drawn = Arc::new(Mutex::new(DrawnLog::default()));
        let gone = CancellationToken::new();
        let registry = Arc::new(Mutex::new(WindowIdRegistry::default()));
        let mut reader = EventReader::new(
            listening,
            root,
            atoms,
            X11EventSenders {
                events: events.clone(),
                pongs: pong_sender,
                drags: drag_sender,
                fences: fence_sender,
                drawn: Arc::clone(&drawn),
                gone: gone.clone(),
            },
            Arc::clone(&registry),
        );
        reader.select().map_err(wrap)?;
        let mut worker = X11Worker::new(requests, root, atoms, own_window, address);
        let (jobs, queue) = mpsc::channel::<Job>();
        spawn_thread("x11-events", move || reader.run())?;
        spawn_thread("x11-requests", move || {
            while let Ok(job) = queue.recv() {
                job(&mut worker);
            }
            if let Err(fault) = worker.finish() {
                tracing::debug!(?fault, "the X server was gone before the connection was closed");
            }
        })?;
        let (last_fence, address) = (AtomicU32::new(0), address.clone());
        Ok(Self {
            jobs,
            events,
            pongs,
            drags,
            fences,
            last_fence,
            drawn,
            gone,
            registry,
            address,
            name,
            size,
        })
    }

    /// Runs `work` on the thread of the connection.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] when the server has ended or does not answer within [`ANSWER_BOUND`].
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&mut X11Worker) -> WorkResult<T> + Send + 'static,
    ) -> DesktopResult<T> {
        let (sender, answer) = oneshot::channel();
        let job: Job = Box::new(move |worker| {
            // The receiver is gone if the caller was dropped: nobody wants it any more.
            if !sender.is_closed() {
                let _ = sender.send(work(worker));
            }
        });
        if self.gone.is_cancelled() || self.jobs.send(job).is_err() {
            return Err(gone(&self.name));
        }
        tokio::select! {
            biased;
            answer = tokio::time::timeout(ANSWER_BOUND, answer) => match answer {
                Ok(Ok(result)) => result.map_err(|fault| fault.into_desktop_error(operation, &self.name)),
                Ok(Err(_)) => Err(gone(&self.name)),
                Err(_) => Err(DesktopError::Gone {
                    what: format!(
                        "the X server of display {} did not answer within {} s",
                        self.name,
                        ANSWER_BOUND.as_secs()
                    ),
                }),
            },
            () = self.gone.cancelled() => Err(gone(&self.name)),
        }
    }

    /// Sends an input, unless the running call is cancelled by the time it is its turn. `done` is what was sent of the input before.
    ///
    /// # Errors
    /// [`DesktopError::Cancelled`] if nothing was sent for that; otherwise as [`Self::call`].
    pub(crate) async fn input<T: Send + 'static>(
        &self,
        operation: &'static str,
        done: u64,
        work: impl FnOnce(&mut X11Worker) -> WorkResult<T> + Send + 'static,
    ) -> DesktopResult<T> {
        let scope = CancelScope::current();
        self.call(operation, move |worker| {
            scope.check(done)?;
            work(worker)
        })
        .await
    }

    /// Has `work` run on the thread of the connection after everything that it was given before, and does not wait for it.
    pub(crate) fn post(&self, work: impl FnOnce(&mut X11Worker) -> WorkResult<()> + Send + 'static) {
        let job: Job = Box::new(move |worker| {
            if let Err(fault) = work(worker) {
                tracing::debug!(?fault, "failed at what nobody waits for");
            }
        });
        // Without the thread, the connection has ended, and with it everything that was held.
        let _ = self.jobs.send(job);
    }

    /// A receiver of the events from now on.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<ScreenEvent> {
        self.events.subscribe()
    }

    /// Waits until every event that the server sent before this call has been processed.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] when the server has ended.
    pub(crate) async fn catch_up(&self) -> DesktopResult<()> {
        let serial = self.last_fence.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        self.call("wait for events", move |worker| worker.put_fence(serial)).await?;
        let mut fences = self.fences.clone();
        let passed = fences.wait_for(|reached| reached.wrapping_sub(serial) < u32::MAX / 2);
        tokio::select! {
            passed = passed => passed.map(drop).map_err(|_| gone(&self.name)),
            () = self.gone.cancelled() => Err(gone(&self.name)),
        }
    }

    /// Takes the areas drawn since the last call; `None` if unknown.
    pub(crate) fn take_drawn(&self) -> Option<Vec<(Option<u32>, Rect<Screen>)>> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// When anything was last drawn at a point of the screen; `None` if that is long ago.
    pub(crate) fn drawn_at(&self, point: Point<Screen>) -> Option<Instant> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner).drawn_at(point)
    }

    /// The serial of the last ping that was answered.
    pub(crate) fn pongs(&self) -> watch::Receiver<u32> {
        self.pongs.clone()
    }

    /// A counter that changes when an application starts drag and drop from now on.
    pub(crate) fn drags(&self) -> watch::Receiver<u32> {
        let mut drags = self.drags.clone();
        drags.mark_unchanged();
        drags
    }

    /// Cancelled when the X server has ended.
    pub(crate) fn gone(&self) -> &CancellationToken {
        &self.gone
    }

    /// The error of a display that has ended.
    pub(crate) fn gone_error(&self) -> DesktopError {
        gone(&self.name)
    }

    /// Runs `look` on the window ids.
    pub(crate) fn with_registry<T>(&self, look: impl FnOnce(&mut WindowIdRegistry) -> T) -> T {
        look(&mut self.registry.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The name of the display, such as `:3`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns its address.
    pub(crate) fn address(&self) -> &X11Address {
        &self.address
    }

    /// The size of the screen when the connection was made.
    pub(crate) fn size(&self) -> Size {
        self.size
    }
}

/// The atoms of a connection.
pub(crate) fn intern(connection: &RustConnection) -> WorkResult<Atoms> {
    Ok(Atoms::new(connection)?.reply()?)
}

/// Creates an invisible window of a connection, whose changed properties are events.
pub(crate) fn create_own_window(connection: &RustConnection, root: u32) -> WorkResult<u32> {
    let window = connection.generate_id()?;
    connection
        .create_window(
            COPY_DEPTH_FROM_PARENT,
            window,
            root,
            -1,
            -1,
            1,
            1,
            0,
            WindowClass::INPUT_OUTPUT,
            COPY_FROM_PARENT,
            &CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE),
        )?
        .check()?;
    Ok(window)
}

fn spawn_thread(name: &str, run: impl FnOnce() + Send + 'static) -> DesktopResult<()> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map(drop)
        .map_err(|error| DesktopError::failed("start a thread for the X server", error))
}
