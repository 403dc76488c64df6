//! The connection to a compositor: one thread that owns it, behind a channel.
//!
//! Callers send the thread a closure and await its result. A compositor that is gone fails every call at once; one that hangs fails it
//! after [`ANSWER_BOUND`].

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
        mpsc,
    },
    time::Duration,
};

use deskhand_desktop::{
    Button, CancelScope, DesktopError, DesktopResult, Picture,
    keys::{KeyChord, KeyModifier},
};
use deskhand_ui::geometry::{Point, Rect, Screen, Size};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    address::CompositorAddress,
    client::{ANSWER_BOUND, WaylandClient, gone},
    clipboard,
    events::{CompositorEvent, CompositorEventSenders, CompositorWatcher, Orders, Sink},
    hands::WaylandInputDriver,
    input::PressTransition,
    keyboard::Symbol,
    monitors::layout_of,
    portal,
    sway::Sway,
    windows::Toplevel,
    worker::WaylandWorker,
};

/// Maximum wait of a caller for a request: one second longer than the request itself may take.
const CALL_BOUND: Duration = ANSWER_BOUND.saturating_add(Duration::from_secs(1));

type Job = Box<dyn FnOnce(&mut WaylandWorker) + Send>;

/// A button and modifiers that are held, and where they were pressed.
#[derive(Debug, Clone)]
pub struct HeldButton {
    /// The position where it was pressed.
    pub at: Point<Screen>,
    /// The button.
    pub button: Button,
    /// The modifiers.
    pub modifiers: Vec<KeyModifier>,
}

/// A handle to a compositor; the threads behind it end when it is dropped.
pub struct WaylandDisplay {
    jobs: mpsc::Sender<Job>,
    orders: Arc<Orders>,
    fences: watch::Receiver<u32>,
    last_fence: AtomicU32,
    gone: CancellationToken,
    address: CompositorAddress,
    area: Rect<Screen>,
    process: Option<u32>,
    /// Receivers that report new pictures, where pictures arrive by themselves.
    counts: Vec<watch::Receiver<u64>>,
    /// Number of times our clipboard content was fetched.
    taken: Mutex<Option<watch::Receiver<u32>>>,
}

impl WaylandDisplay {
    /// Connects and starts the threads that it needs. What happens goes to `sink`, on any of them. Blocking; where `way` is a portal, a person
    /// may be asked.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if the compositor refuses the connection or does not offer what is needed, [`DesktopError::Start`] if the
    /// person refuses.
    pub fn open(
        address: &CompositorAddress,
        way: CompositorBackend,
        sink: impl Fn(CompositorEvent) + Send + Sync + 'static,
    ) -> DesktopResult<Self> {
        let failed =
            |error: std::io::Error| DesktopError::failed("set up the connection to the compositor", error);
        let client = WaylandClient::open(address)?;
        let process = client.process();
        let (fence_sender, fences) = watch::channel(0);
        let gone = CancellationToken::new();
        let orders = Arc::new(Orders::new().map_err(failed)?);
        let sink = ending(sink, gone.clone());
        let (mut worker, screencopy, sway) = match way {
            CompositorBackend::Wlroots => {
                let socket = address.sway.as_ref().ok_or_else(|| {
                    DesktopError::failed(
                        "list the windows",
                        "SWAYSOCK is not set: only sway tells where windows are",
                    )
                })?;
                let worker = WaylandWorker::of_wlroots(client, Sway::open(socket)?)?;
                let mut events = Sway::open(socket)?;
                events.subscribe()?;
                (worker, true, Some(events))
            }
            CompositorBackend::Portals => (WaylandWorker::of_portals(address, client, &sink)?, false, None),
        };
        let listeners = CompositorEventSenders { sink, fences: fence_sender };
        let watched = WaylandClient::open(address)?;
        let watcher = CompositorWatcher::new(watched, screencopy, sway, Arc::clone(&orders), listeners)?;
        let area = layout_of(worker.monitors()?);
        let counts = worker.counts();
        let (jobs, queue) = mpsc::channel::<Job>();
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        thread("wayland-events").spawn(move || watcher.run()).map_err(failed)?;
        let work = move || {
            while let Ok(job) = queue.recv() {
                job(&mut worker);
            }
            worker.end();
        };
        thread("wayland-requests").spawn(work).map_err(failed)?;
        let (last_fence, address, taken) = (AtomicU32::new(0), address.clone(), Mutex::default());
        Ok(Self { jobs, orders, fences, last_fence, gone, address, area, process, counts, taken })
    }

    /// Runs `work` on the thread of the connection.
    async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut WaylandWorker) -> DesktopResult<T> + Send + 'static,
    ) -> DesktopResult<T> {
        let (sender, answer) = oneshot::channel();
        let job: Job = Box::new(move |worker| {
            // The receiver is gone if the caller was dropped: nobody wants it any more.
            if !sender.is_closed() {
                let _ = sender.send(work(worker));
            }
        });
        if self.gone.is_cancelled() || self.jobs.send(job).is_err() {
            return Err(self.gone_error());
        }
        tokio::select! {
            biased;
            answer = tokio::time::timeout(CALL_BOUND, answer) => match answer {
                Ok(Ok(result)) => result,
                Ok(Err(_)) => Err(self.gone_error()),
                Err(_) => Err(self.silent()),
            },
            () = self.gone.cancelled() => Err(self.gone_error()),
        }
    }

    fn silent(&self) -> DesktopError {
        DesktopError::Gone {
            what: format!(
                "the compositor of {} did not answer within {} s",
                self.address.name(),
                CALL_BOUND.as_secs()
            ),
        }
    }

    /// Every window, bottom-most first. Pop-ups are among them only where the compositor tells where they are: sway does not.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] if the compositor does not answer.
    pub async fn windows(&self) -> DesktopResult<Vec<Toplevel>> {
        self.call(|worker| worker.windows.toplevels()).await
    }

    /// Asks for the focus for a window; returns whether there is such a window.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] if the compositor does not answer.
    pub async fn focus(&self, window: u32) -> DesktopResult<bool> {
        self.call(move |worker| worker.windows.focus(window)).await
    }

    /// Asks a window to close; returns whether there is such a window.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] if the compositor does not answer.
    pub async fn close(&self, window: u32) -> DesktopResult<bool> {
        self.call(move |worker| worker.windows.close(window)).await
    }

    /// The areas of the monitors, in the order of the compositor.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] if the compositor does not answer.
    pub async fn monitors(&self) -> DesktopResult<Vec<Rect<Screen>>> {
        self.call(WaylandWorker::monitors).await
    }

    /// A picture of all monitors, or of a part of them.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if it is completely off the screen or the compositor refuses.
    pub async fn picture(&self, region: Option<Rect<Screen>>) -> DesktopResult<Picture> {
        portal::catch_up(self.counts.clone()).await;
        self.call(move |worker| worker.picture(region)).await
    }

    /// Returns `true` if pictures can be taken: not where a portal sends them and none has come.
    pub fn takes_pictures(&self) -> bool {
        self.counts.iter().all(|count| *count.borrow() > 0)
    }

    /// Uses pointer and keys, and waits until the compositor has passed everything on. Nothing is sent if the running call is cancelled
    /// by the time it is its turn; `done` is what was sent of the input before.
    async fn act<T: Send + 'static>(
        &self,
        done: u64,
        act: impl FnOnce(&mut WaylandInputDriver, &WaylandClient) -> DesktopResult<T> + Send + 'static,
    ) -> DesktopResult<T> {
        let scope = CancelScope::current();
        self.call(move |worker| {
            scope.check(done)?;
            let acted = act(&mut worker.hands, &worker.client)?;
            worker.hands.pass(&mut worker.client)?;
            Ok(acted)
        })
        .await
    }

    /// Moves the pointer and clicks `count` times, with modifiers held.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if the point is off the screen.
    pub async fn click(
        &self,
        at: Point<Screen>,
        button: Button,
        modifiers: Vec<KeyModifier>,
        count: u8,
    ) -> DesktopResult<()> {
        self.act(0, move |hands, client| {
            hands.move_to(client, at)?;
            hands.modifiers(&modifiers, PressTransition::Press)?;
            for _ in 0..count {
                hands.button(button, PressTransition::Press)?;
                hands.button(button, PressTransition::Release)?;
            }
            hands.modifiers(&modifiers, PressTransition::Release)
        })
        .await
    }

    /// Moves the pointer along these points.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if one is off the screen.
    pub async fn follow(&self, points: Vec<Point<Screen>>) -> DesktopResult<()> {
        self.act(0, move |hands, client| points.iter().try_for_each(|point| hands.move_to(client, *point)))
            .await
    }

    /// Turns the wheel at a point; `done` is how many notches came before.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if the point is off the screen.
    pub async fn scroll(&self, at: Point<Screen>, right: i32, down: i32, done: u64) -> DesktopResult<()> {
        self.act(done, move |hands, client| {
            hands.move_to(client, at)?;
            hands.scroll(right, down)
        })
        .await
    }

    /// Moves to a point and holds modifiers and a button there. `is_held` is set as soon as it may be so.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] if the compositor does not answer.
    pub async fn hold(&self, grip: &HeldButton, is_held: Arc<AtomicBool>) -> DesktopResult<()> {
        let HeldButton { at, button, modifiers } = grip.clone();
        self.act(0, move |hands, client| {
            hands.move_to(client, at)?;
            is_held.store(true, Ordering::Relaxed);
            hands.modifiers(&modifiers, PressTransition::Press)?;
            hands.button(button, PressTransition::Press)
        })
        .await
    }

    /// Lets go a button and modifiers, where the pointer is or `back` where they were pressed, and does so even if the caller does not wait
    /// for it. Does nothing if `is_held` is not set.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] if the compositor does not answer.
    pub fn let_go(
        &self,
        grip: &HeldButton,
        is_held: Arc<AtomicBool>,
        back: bool,
    ) -> impl Future<Output = DesktopResult<()>> + use<> {
        let HeldButton { at, button, modifiers } = grip.clone();
        let (sender, answer) = oneshot::channel();
        let job: Job = Box::new(move |worker| {
            let release = |worker: &mut WaylandWorker| {
                if !is_held.swap(false, Ordering::Relaxed) {
                    return Ok(());
                }
                if back {
                    worker.hands.move_to(&worker.client, at)?;
                }
                let released = worker.hands.button(button, PressTransition::Release);
                // Let go everything, even if one failed.
                worker.hands.modifiers(&modifiers, PressTransition::Release)?;
                worker.hands.pass(&mut worker.client)?;
                released
            };
            let _ = sender.send(release(worker));
        });
        let sent = self.jobs.send(job).is_ok();
        let (gone, silent) = (self.gone_error(), self.silent());
        async move {
            if !sent {
                return Err(gone);
            }
            match tokio::time::timeout(CALL_BOUND, answer).await {
                Ok(Ok(released)) => released,
                Ok(Err(_)) => Err(gone),
                Err(_) => Err(silent),
            }
        }
    }

    /// Types as many symbols from the first on as are sent at once, at most `most`; returns how many. `done` is how many came before.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] if the compositor does not answer.
    pub async fn type_piece(&self, symbols: Vec<Symbol>, most: usize, done: u64) -> DesktopResult<usize> {
        self.act(done, move |hands, _| hands.type_piece(&symbols, most)).await
    }

    /// Presses and releases a chord; `done` is what was sent of the input before.
    ///
    /// # Errors
    /// [`DesktopError::Key`] if there is no such key.
    pub async fn press(&self, chord: KeyChord, done: u64) -> DesktopResult<()> {
        self.act(done, move |hands, _| hands.press(&chord)).await
    }

    /// The text of the clipboard; `None` if it is empty or holds something else.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if its owner does not send it.
    pub async fn clipboard(&self) -> DesktopResult<Option<String>> {
        let address = self.address.clone();
        blocking(move || clipboard::text(&address)).await
    }

    /// Sets the text of the clipboard, in one format or in all those of text, or empties it.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if another program takes it over.
    pub async fn set_clipboard(&self, text: Option<&str>, format: Option<&str>) -> DesktopResult<()> {
        let (address, text) = (self.address.clone(), text.map(ToOwned::to_owned));
        let format = format.map(ToOwned::to_owned);
        let taken = blocking(move || clipboard::own(&address, text.as_deref(), format.as_deref())).await?;
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = taken;
        Ok(())
    }

    /// Waits until an application has fetched what was set, at most `bound`; returns whether one has.
    pub async fn clipboard_taken(&self, bound: Duration) -> bool {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(mut taken) = taken else { return false };
        let waited = tokio::time::timeout(bound, taken.wait_for(|count| *count > 0)).await;
        matches!(waited, Ok(Ok(_)))
    }

    /// Waits until everything that was drawn before this call has been told; where a portal shows pictures, which says nothing of that, until
    /// no picture seems to be on its way.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] when the compositor has ended.
    pub async fn catch_up(&self) -> DesktopResult<()> {
        portal::catch_up(self.counts.clone()).await;
        let serial = self.last_fence.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        self.orders.put_fence(serial);
        let mut fences = self.fences.clone();
        let passed = fences.wait_for(|reached| reached.wrapping_sub(serial) < u32::MAX / 2);
        tokio::select! {
            passed = tokio::time::timeout(CALL_BOUND, passed) => match passed {
                Ok(passed) => passed.map(drop).map_err(|_| self.gone_error()),
                Err(_) => Err(self.silent()),
            },
            () = self.gone.cancelled() => Err(self.gone_error()),
        }
    }

    /// Cancelled when the compositor has ended.
    pub const fn gone(&self) -> &CancellationToken {
        &self.gone
    }

    /// The error of a compositor that has ended.
    pub fn gone_error(&self) -> DesktopError {
        gone(&self.address.name())
    }

    /// The name of the display: `wayland-1`.
    pub fn name(&self) -> String {
        self.address.name()
    }

    /// The size of all monitors together when the connection was made.
    pub fn size(&self) -> Size {
        let side = |length: i32| u16::try_from(length).unwrap_or(u16::MAX);
        Size { width: side(self.area.right()), height: side(self.area.bottom()) }
    }

    /// The process of the compositor.
    pub const fn process(&self) -> Option<u32> {
        self.process
    }
}

/// The interfaces by which the screen is seen and used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompositorBackend {
    /// By the protocols of wlroots and the socket of sway.
    Wlroots,
    /// By the portals of GNOME or KDE, and what these report of windows on the session bus.
    Portals,
}

/// The sink, which also says that the compositor has ended to those who wait for that.
fn ending(sink: impl Fn(CompositorEvent) + Send + Sync + 'static, gone: CancellationToken) -> Sink {
    Arc::new(move |event| {
        if event == CompositorEvent::Gone {
            gone.cancel();
        }
        sink(event);
    })
}

impl Drop for WaylandDisplay {
    fn drop(&mut self) {
        self.orders.stop();
    }
}

/// Runs blocking work on a thread for it.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> DesktopResult<T> + Send + 'static,
) -> DesktopResult<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| DesktopError::failed("run blocking work on a thread", error))?
}
