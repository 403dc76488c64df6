//! A desktop on a Wayland compositor: `deskhand-desktop-wayland` shows windows and takes input, the accessibility bus tells of pop-ups.
//!
//! - [`Compositor`] is the connection, with what is remembered of the screen.
//! - `windowing` lists, activates and closes windows; `input` sends input and waits until it was handled.

mod input;
mod windowing;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use deskhand_desktop::DesktopResult;
use deskhand_desktop_wayland::{CompositorAddress, CompositorBackend, CompositorEvent, WaylandDisplay};
use deskhand_ui::geometry::{Rect, Screen};
use tokio::sync::broadcast;

use crate::{
    atspi::ObjectRef,
    screen::{ScreenEvent, dragging::Press, events::DrawnLog, rhythm::Rhythms, window_ids::WindowIdRegistry},
};

/// Number of events that a slow reader may fall behind before it misses some.
const EVENTS_KEPT: usize = 1024;
/// The number of all windows together, for what draws by itself: it is not known which one drew.
const ALL_WINDOWS: u32 = 0;

/// A connection to a compositor.
pub(crate) struct Compositor {
    pub(crate) display: WaylandDisplay,
    pub(crate) events: broadcast::Sender<ScreenEvent>,
    pub(crate) drawn: Arc<Mutex<DrawnLog>>,
    pub(crate) registry: Mutex<WindowIdRegistry>,
    pub(crate) name: String,
    /// The numbers of pop-ups, which the compositor does not give, and where they are.
    pop_ups: Mutex<HashMap<ObjectRef, (u32, Rect<Screen>)>>,
    /// When an input was last about to be sent.
    acted: Mutex<Instant>,
    /// The last press of a mouse button.
    pressed: Mutex<Option<Press>>,
}

impl Compositor {
    /// Connects. Blocking; a portal may ask the person.
    pub(crate) fn open(address: &CompositorAddress, way: CompositorBackend) -> DesktopResult<Self> {
        let (events, _) = broadcast::channel(EVENTS_KEPT);
        let drawn = Arc::new(Mutex::new(DrawnLog::default()));
        let (sender, log) = (events.clone(), Arc::clone(&drawn));
        let rhythms = Mutex::new(Rhythms::default());
        let sink = move |event: CompositorEvent| {
            let event = match event {
                CompositorEvent::WindowsChanged => ScreenEvent::WindowsChanged,
                CompositorEvent::Drawn { area } => {
                    let now = Instant::now();
                    let mut rhythms = rhythms.lock().unwrap_or_else(PoisonError::into_inner);
                    let by_itself = rhythms.repeats_by_itself(ALL_WINDOWS, area, now);
                    drop(rhythms);
                    log.lock().unwrap_or_else(PoisonError::into_inner).add(None, area, now);
                    ScreenEvent::Damage { window: ALL_WINDOWS, area, by_itself }
                }
                CompositorEvent::Gone => ScreenEvent::DisplayGone,
            };
            // Fails only without subscribers.
            let _ = sender.send(event);
        };
        Ok(Self {
            display: WaylandDisplay::open(address, way, sink)?,
            events,
            drawn,
            registry: Mutex::default(),
            name: address.name(),
            pop_ups: Mutex::default(),
            acted: Mutex::new(Instant::now()),
            pressed: Mutex::default(),
        })
    }
}
