//! Events on the screen: one thread with its own connection.
//!
//! Where portals are used, the thread only notices the end of the compositor. Otherwise sway reports windows,
//! and drawing is seen by pictures that the compositor takes as soon as something has changed on a monitor,
//! with the changed areas; drawing between two pictures is in the next one. Nothing is decided here.

use std::{
    collections::HashMap,
    os::fd::OwnedFd,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use deskhand_desktop::{DesktopError, DesktopResult};
use deskhand_ui::geometry::{Rect, Screen};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use tokio::sync::watch;
use wayland_client::protocol::wl_shm::WlShm;
use wayland_protocols_wlr::screencopy::v1::client::{
    zwlr_screencopy_frame_v1::ZwlrScreencopyFrameV1, zwlr_screencopy_manager_v1::ZwlrScreencopyManagerV1,
};

use crate::{
    capture::ScreencopyBuffer,
    client::{WaylandClient, read},
    frame::{CaptureBufferLayout, FrameKey, ScreencopyFrame},
    monitors::Monitor,
    sway::Sway,
};

const OPERATION: &str = "watch the screen";
/// From version 2 on, the compositor tells what was drawn.
const DAMAGE_VERSION: u32 = 2;

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompositorEvent {
    /// A window was opened or closed, moved, its title or the active window changed.
    WindowsChanged,
    /// An area of the screen was drawn.
    Drawn {
        /// The area.
        area: Rect<Screen>,
    },
    /// The compositor has ended.
    Gone,
}

/// The receiver of events, from any thread.
pub(crate) type Sink = Arc<dyn Fn(CompositorEvent) + Send + Sync>;

/// Requests of the owner of the thread.
pub(crate) struct Orders {
    /// The serials of fences that have not been reached.
    fences: Mutex<Vec<u32>>,
    stop: AtomicBool,
    wake: OwnedFd,
}

impl Orders {
    pub(crate) fn new() -> std::io::Result<Self> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { fences: Mutex::default(), stop: AtomicBool::new(false), wake })
    }

    /// Asks for a fence: it is reached when everything that was drawn before has been told.
    pub(crate) fn put_fence(&self, serial: u32) {
        self.fences.lock().unwrap_or_else(PoisonError::into_inner).push(serial);
        self.wake();
    }

    /// Asks the thread to end.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.wake();
    }

    fn wake(&self) {
        // It fails only if the counter is full, and then the thread wakes anyway.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    fn take_fences(&self) -> Vec<u32> {
        std::mem::take(&mut *self.fences.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The receivers of the reports of the thread.
pub(crate) struct CompositorEventSenders {
    pub(crate) sink: Sink,
    /// The serial of the last fence that was reached.
    pub(crate) fences: watch::Sender<u32>,
}

/// A picture that is being taken of a monitor.
struct PendingMonitorFrame {
    key: FrameKey,
    frame: ZwlrScreencopyFrameV1,
    memory: Option<ScreencopyBuffer>,
    /// Set if the compositor takes it as soon as it can.
    armed: bool,
}

/// The globals that take pictures and share memory for them.
type Parts = (ZwlrScreencopyManagerV1, WlShm);

/// The thread; see the module documentation.
pub(crate) struct CompositorWatcher {
    client: WaylandClient,
    sway: Option<Sway>,
    orders: Arc<Orders>,
    listeners: CompositorEventSenders,
    /// The globals that take pictures; `None` where a portal does.
    parts: Option<Parts>,
    /// By the number of the monitor.
    eyes: HashMap<u32, PendingMonitorFrame>,
    /// Pictures of single pixels whose end means that a fence is reached, and its serial.
    probes: Vec<PendingMonitorFrame>,
    reaching: u32,
    last_key: FrameKey,
}

impl CompositorWatcher {
    pub(crate) fn new(
        client: WaylandClient,
        screencopy: bool,
        sway: Option<Sway>,
        orders: Arc<Orders>,
        listeners: CompositorEventSenders,
    ) -> DesktopResult<Self> {
        let bind = || {
            Ok::<_, DesktopError>((
                client.bind(OPERATION, DAMAGE_VERSION..=3)?,
                client.bind(OPERATION, 1..=1)?,
            ))
        };
        let parts = screencopy.then(bind).transpose()?;
        Ok(Self {
            client,
            sway,
            orders,
            listeners,
            parts,
            eyes: HashMap::new(),
            probes: Vec::new(),
            reaching: 0,
            last_key: 0,
        })
    }

    /// Watches until the compositor ends or the owner asks to stop.
    pub(crate) fn run(mut self) {
        while !self.orders.stop.load(Ordering::Relaxed) {
            if let Err(error) = self.turn() {
                tracing::debug!(error = error.chain(), "the screen is no longer watched");
                (self.listeners.sink)(CompositorEvent::Gone);
                return;
            }
        }
    }

    /// Handles what has arrived, then waits for more.
    fn turn(&mut self) -> DesktopResult<()> {
        self.client.dispatch()?;
        self.look()?;
        self.client.queue.flush().map_err(|_| self.client.gone())?;
        let Some(guard) = self.client.queue.prepare_read() else { return Ok(()) };
        let socket = guard.connection_fd();
        let mut both =
            vec![PollFd::new(&socket, PollFlags::IN), PollFd::new(&self.orders.wake, PollFlags::IN)];
        both.extend(self.sway.as_ref().map(|sway| PollFd::new(sway, PollFlags::IN)));
        match poll(&mut both, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(DesktopError::failed(OPERATION, error)),
        }
        let ready: Vec<bool> = both.iter().map(|one| !one.revents().is_empty()).collect();
        let is_ready = |at: usize| ready.get(at) == Some(&true);
        drop(both);
        if is_ready(0) {
            read(guard).map_err(|()| self.client.gone())?;
        } else {
            drop(guard);
        }
        if is_ready(1) {
            // What it counts does not matter.
            let _ = rustix::io::read(&self.orders.wake, &mut [0; 8]);
        }
        if let Some(sway) = self.sway.as_mut().filter(|_| is_ready(2)) {
            sway.event().map_err(|_| self.client.gone())?;
            (self.listeners.sink)(CompositorEvent::WindowsChanged);
        }
        Ok(())
    }

    /// Takes in what was drawn, and looks on.
    fn look(&mut self) -> DesktopResult<()> {
        let Some(parts) = self.parts.clone() else {
            self.reach_fences();
            return Ok(());
        };
        let monitors = self.client.state.monitors.clone();
        self.eyes.retain(|number, _| monitors.iter().any(|monitor| monitor.number == *number));
        for monitor in monitors.iter().filter(|monitor| !monitor.area.is_empty()) {
            self.look_at(&parts, monitor)?;
        }
        self.tend_probes(&parts)?;
        if self.probes.is_empty() && self.eyes.values().all(|eye| eye.armed) {
            let serials = self.orders.take_fences();
            if let Some(last) = serials.into_iter().max() {
                self.reaching = last;
                let handle = self.client.queue.handle();
                for monitor in monitors.iter().filter(|monitor| !monitor.area.is_empty()) {
                    let key = self.next_key();
                    let frame = parts.0.capture_output_region(0, &monitor.output, 0, 0, 1, 1, &handle, key);
                    self.probes.push(PendingMonitorFrame { key, frame, memory: None, armed: false });
                }
                if self.probes.is_empty() {
                    self.listeners.fences.send_replace(last);
                }
            }
        }
        Ok(())
    }

    /// Without pictures there is nothing to wait for.
    fn reach_fences(&mut self) {
        if let Some(last) = self.orders.take_fences().into_iter().max() {
            self.listeners.fences.send_replace(last);
        }
    }

    fn next_key(&mut self) -> FrameKey {
        self.last_key = self.last_key.wrapping_add(1);
        self.client.state.frames.insert(self.last_key, ScreencopyFrame::default());
        self.last_key
    }

    /// Looks at one monitor: takes in the picture that was taken, if any, and asks for the next one.
    fn look_at(&mut self, parts: &Parts, monitor: &Monitor) -> DesktopResult<()> {
        let Some(mut eye) = self.eyes.remove(&monitor.number) else {
            let eye = self.open_eye(parts, monitor, None);
            self.eyes.insert(monitor.number, eye);
            return Ok(());
        };
        let frame = self.client.state.frames.get(&eye.key).cloned().unwrap_or_default();
        if let Some(taken) = frame.taken {
            self.client.state.frames.remove(&eye.key);
            eye.frame.destroy();
            let layout = eye.memory.as_ref().map(|memory| memory.layout);
            for area in frame.damage {
                if let (Some(area), true) =
                    (layout.and_then(|layout| on_screen(area, layout, monitor)), taken)
                {
                    (self.listeners.sink)(CompositorEvent::Drawn { area });
                }
            }
            eye = self.open_eye(parts, monitor, eye.memory);
        } else if let (Some(layout), false) = (frame.layout, eye.armed) {
            self.arm(parts, &mut eye, layout, /*on_damage*/ true)?;
        }
        self.eyes.insert(monitor.number, eye);
        Ok(())
    }

    fn open_eye(
        &mut self,
        parts: &Parts,
        monitor: &Monitor,
        memory: Option<ScreencopyBuffer>,
    ) -> PendingMonitorFrame {
        let key = self.next_key();
        let frame = parts.0.capture_output(0, &monitor.output, &self.client.queue.handle(), key);
        PendingMonitorFrame { key, frame, memory, armed: false }
    }

    /// Has a picture taken: at once, or as soon as something was drawn.
    fn arm(
        &self,
        parts: &Parts,
        eye: &mut PendingMonitorFrame,
        layout: CaptureBufferLayout,
        on_damage: bool,
    ) -> DesktopResult<()> {
        let memory = match eye.memory.take().filter(|memory| memory.layout == layout) {
            Some(memory) => memory,
            None => ScreencopyBuffer::new(&parts.1, layout, &self.client.queue.handle())?,
        };
        if on_damage {
            eye.frame.copy_with_damage(&memory.buffer);
        } else {
            eye.frame.copy(&memory.buffer);
        }
        (eye.memory, eye.armed) = (Some(memory), true);
        Ok(())
    }

    /// Brings the pictures of single pixels to their end.
    fn tend_probes(&mut self, parts: &Parts) -> DesktopResult<()> {
        if self.probes.is_empty() {
            return Ok(());
        }
        let mut open = Vec::new();
        for mut probe in std::mem::take(&mut self.probes) {
            let frame = self.client.state.frames.get(&probe.key).cloned().unwrap_or_default();
            if frame.taken.is_some() {
                self.client.state.frames.remove(&probe.key);
                probe.frame.destroy();
                continue;
            }
            if let (Some(layout), false) = (frame.layout, probe.armed) {
                self.arm(parts, &mut probe, layout, /*on_damage*/ false)?;
            }
            open.push(probe);
        }
        self.probes = open;
        if self.probes.is_empty() {
            self.listeners.fences.send_replace(self.reaching);
        }
        Ok(())
    }
}

/// The place on the screen of an area of a picture of a monitor.
fn on_screen(area: [u32; 4], layout: CaptureBufferLayout, monitor: &Monitor) -> Option<Rect<Screen>> {
    let along = |at: u32, pixels: u32, units: i32| {
        let units = u64::try_from(units).unwrap_or(0);
        let scaled = |at: u64| i32::try_from(at).unwrap_or(i32::MAX);
        let pixels = u64::from(pixels.max(1));
        // From the unit in which it begins to the one in which it ends.
        move |end: bool| {
            let at = u64::from(at) * units;
            scaled(if end { at.div_ceil(pixels) } else { at / pixels })
        }
    };
    let [x, y, width, height] = area;
    let left = along(x, layout.width, monitor.area.width)(false);
    let right = along(x.saturating_add(width), layout.width, monitor.area.width)(true);
    let top = along(y, layout.height, monitor.area.height)(false);
    let bottom = along(y.saturating_add(height), layout.height, monitor.area.height)(true);
    let placed = Rect::new(
        monitor.area.x.saturating_add(left),
        monitor.area.y.saturating_add(top),
        right - left,
        bottom - top,
    );
    placed.intersection(&monitor.area)
}
