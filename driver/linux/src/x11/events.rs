//! The reader of X events: one thread with a connection of its own.
//!
//! It selects the events of the root window and of every top-level window, watches each window for damage, and
//! broadcasts what happens. It makes no decisions.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use deskhand_ui::geometry::Rect;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use x11rb::{
    connection::{Connection, RequestConnection},
    protocol::{
        Event,
        damage::{self, ConnectionExt as _},
        xfixes::{self, ConnectionExt as _},
        xproto::{
            AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, MapState,
            PropertyNotifyEvent, Rectangle,
        },
    },
    rust_connection::RustConnection,
};

use super::{
    fault::WorkResult,
    own_messages::value_of,
    worker::{Atoms, PING_OF_OTHERS},
};
use crate::screen::{ScreenEvent, events::DrawnLog, rhythm::Rhythms, window_ids::WindowIdRegistry};

/// The most windows that are watched for damage at a time.
const WATCHED_MAX: usize = 512;

/// The reader; see the module documentation.
pub(crate) struct EventReader {
    connection: RustConnection,
    root: u32,
    atoms: Atoms,
    events: broadcast::Sender<ScreenEvent>,
    pongs: watch::Sender<u32>,
    drags: watch::Sender<u32>,
    gone: CancellationToken,
    registry: Arc<Mutex<WindowIdRegistry>>,
    fences: watch::Sender<u32>,
    drawn: Arc<Mutex<DrawnLog>>,
    rhythms: Rhythms,
    watched: HashMap<u32, WatchedX11Window>,
    /// The server-side region that damage is read into; 0 without the DAMAGE extension.
    region: xfixes::Region,
}

/// A window that is watched.
struct WatchedX11Window {
    pid: Option<u32>,
}

/// The channels that the reader sends to.
pub(crate) struct X11EventSenders {
    /// All events, to every subscriber.
    pub(crate) events: broadcast::Sender<ScreenEvent>,
    /// The serial of the last ping that was answered.
    pub(crate) pongs: watch::Sender<u32>,
    /// Number of times an application started drag and drop.
    pub(crate) drags: watch::Sender<u32>,
    /// The serial of the last fence that was reached.
    pub(crate) fences: watch::Sender<u32>,
    /// The drawn areas.
    pub(crate) drawn: Arc<Mutex<DrawnLog>>,
    /// Cancelled when the server ends.
    pub(crate) gone: CancellationToken,
}

impl EventReader {
    pub(crate) fn new(
        connection: RustConnection,
        root: u32,
        atoms: Atoms,
        listeners: X11EventSenders,
        registry: Arc<Mutex<WindowIdRegistry>>,
    ) -> Self {
        let X11EventSenders { events, pongs, drags, fences, drawn, gone } = listeners;
        let watched = HashMap::new();
        let rhythms = Rhythms::default();
        Self {
            connection,
            root,
            atoms,
            events,
            pongs,
            drags,
            gone,
            registry,
            fences,
            drawn,
            rhythms,
            watched,
            region: 0,
        }
    }

    /// Selects the events of the root window and adopts the existing windows.
    pub(crate) fn select(&mut self) -> WorkResult<()> {
        let has_damage = self.connection.extension_information(damage::X11_EXTENSION_NAME)?.is_some()
            && self.connection.extension_information(xfixes::X11_EXTENSION_NAME)?.is_some();
        if has_damage {
            self.connection.damage_query_version(1, 1)?.reply()?;
            self.connection.xfixes_query_version(5, 0)?.reply()?;
            self.region = self.connection.generate_id()?;
            self.connection.xfixes_create_region(self.region, &[])?;
            let taken = xfixes::SelectionEventMask::SET_SELECTION_OWNER;
            self.connection.xfixes_select_selection_input(self.root, self.atoms.XdndSelection, taken)?;
        }
        let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::PROPERTY_CHANGE | EventMask::STRUCTURE_NOTIFY;
        let attributes = ChangeWindowAttributesAux::new().event_mask(mask);
        self.connection.change_window_attributes(self.root, &attributes)?.check()?;
        self.adopt_clients()?;
        let children = self.connection.query_tree(self.root)?.reply()?.children;
        for window in children {
            // A window may be destroyed in the meantime.
            let Ok(attributes) = self.connection.get_window_attributes(window)?.reply() else { continue };
            if attributes.override_redirect && attributes.map_state == MapState::VIEWABLE {
                self.adopt(window)?;
            }
        }
        self.connection.flush()?;
        Ok(())
    }

    /// Reads events until the server ends or the owner asks to stop.
    pub(crate) fn run(mut self) {
        loop {
            let event = match self.connection.wait_for_event() {
                Ok(event) => event,
                Err(error) => {
                    tracing::debug!(%error, "the X server is gone");
                    break;
                }
            };
            match self.handle(&event) {
                Ok(true) => {}
                Ok(false) => return,
                // One request was refused, because its window was destroyed in the meantime.
                Err(fault) if fault.is_refusal() => {}
                Err(fault) => {
                    tracing::debug!(?fault, "the X server is gone");
                    break;
                }
            }
        }
        self.gone.cancel();
        self.broadcast(ScreenEvent::DisplayGone);
    }

    /// Handles one event; returns whether to continue.
    fn handle(&mut self, event: &Event) -> WorkResult<bool> {
        if let Event::DamageNotify(damaged) = event {
            self.drew(damaged)?;
        } else if let Event::XfixesSelectionNotify(taken) = event {
            // Releasing the selection sends this event too.
            if taken.owner == x11rb::NONE {
                return Ok(true);
            }
            self.drags.send_modify(|drags| *drags = drags.wrapping_add(1));
        } else if let Event::MapNotify(mapped) = event {
            if mapped.override_redirect {
                self.adopt(mapped.window)?;
                self.connection.flush()?;
            }
            self.broadcast(ScreenEvent::WindowsChanged);
        } else if let Event::UnmapNotify(_) = event {
            self.broadcast(ScreenEvent::WindowsChanged);
        } else if let Event::DestroyNotify(destroyed) = event {
            // The server has already dropped the damage object with its window.
            self.watched.remove(&destroyed.window);
            self.registry.lock().unwrap_or_else(PoisonError::into_inner).forget(destroyed.window);
            self.broadcast(ScreenEvent::WindowsChanged);
        } else if let Event::PropertyNotify(changed) = event {
            self.property_changed(changed)?;
        } else if let Event::ClientMessage(message) = event {
            let [protocol, serial, ..] = message.data.as_data32();
            match value_of(message.data.as_data32()) {
                Some(_) if message.type_ == self.atoms.DESKHAND_QUIT => return Ok(false),
                Some(fence) if message.type_ == self.atoms.DESKHAND_FENCE => {
                    self.fences.send_replace(fence);
                }
                Some(_) | None => {}
            }
            if message.type_ == self.atoms.WM_PROTOCOLS
                && protocol == self.atoms._NET_WM_PING
                && message.window == self.root
                && serial & PING_OF_OTHERS == 0
            {
                self.pongs.send_replace(serial);
            }
        }
        Ok(true)
    }

    /// The server reports no further damage until it is fetched. It is forwarded only after that: what is drawn
    /// before belongs to this event, and what is drawn later triggers another one.
    fn drew(&mut self, damaged: &damage::NotifyEvent) -> WorkResult<()> {
        /// With more areas, their bounding box stands for all of them.
        const AREAS_MAX: usize = 16;
        let connection = &self.connection;
        connection.damage_subtract(damaged.damage, x11rb::NONE, self.region)?;
        let region = connection.xfixes_fetch_region(self.region)?;
        let origin = connection.translate_coordinates(damaged.drawable, self.root, 0, 0)?;
        let (region, origin) = (region.reply()?, origin.reply()?);
        let on_screen = |area: &Rectangle| {
            Rect::new(
                i32::from(origin.dst_x) + i32::from(area.x),
                i32::from(origin.dst_y) + i32::from(area.y),
                i32::from(area.width),
                i32::from(area.height),
            )
        };
        let whole = on_screen(&region.extents);
        let pid = self.watched.get(&damaged.drawable).and_then(|watched| watched.pid);
        let now = Instant::now();
        let mut by_itself = true;
        for area in region.rectangles.iter().take(AREAS_MAX) {
            by_itself &= self.rhythms.repeats_by_itself(damaged.drawable, on_screen(area), now);
        }
        by_itself &= region.rectangles.len() <= AREAS_MAX;
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        if region.rectangles.len() > AREAS_MAX {
            drawn.add(pid, whole, now);
        } else {
            for area in &region.rectangles {
                drawn.add(pid, on_screen(area), now);
            }
        }
        drop(drawn);
        self.broadcast(ScreenEvent::Damage { window: damaged.drawable, area: whole, by_itself });
        Ok(())
    }

    fn property_changed(&mut self, changed: &PropertyNotifyEvent) -> WorkResult<()> {
        let atoms = &self.atoms;
        let is_relevant = if changed.window == self.root {
            [
                atoms._NET_CLIENT_LIST,
                atoms._NET_CLIENT_LIST_STACKING,
                atoms._NET_ACTIVE_WINDOW,
                atoms._NET_SUPPORTING_WM_CHECK,
            ]
            .contains(&changed.atom)
        } else {
            let name = u32::from(AtomEnum::WM_NAME);
            [atoms._NET_WM_NAME, name, atoms._NET_FRAME_EXTENTS].contains(&changed.atom)
        };
        if changed.window == self.root && changed.atom == self.atoms._NET_CLIENT_LIST {
            self.adopt_clients()?;
        }
        if is_relevant {
            self.broadcast(ScreenEvent::WindowsChanged);
        }
        Ok(())
    }

    fn adopt_clients(&mut self) -> WorkResult<()> {
        let list = self
            .connection
            .get_property(false, self.root, self.atoms._NET_CLIENT_LIST, AtomEnum::WINDOW, 0, 4096)?
            .reply()?;
        for window in list.value32().into_iter().flatten() {
            self.adopt(window)?;
        }
        self.connection.flush()?;
        Ok(())
    }

    /// Selects the events of a top-level window. If it is gone already, the error arrives as an event.
    fn adopt(&mut self, window: u32) -> WorkResult<()> {
        if self.watched.contains_key(&window) || self.watched.len() >= WATCHED_MAX {
            return Ok(());
        }
        let attributes = ChangeWindowAttributesAux::new()
            .event_mask(EventMask::PROPERTY_CHANGE | EventMask::STRUCTURE_NOTIFY);
        self.connection.change_window_attributes(window, &attributes)?;
        if self.region != 0 {
            let damage = self.connection.generate_id()?;
            self.connection.damage_create(damage, window, damage::ReportLevel::NON_EMPTY)?;
        }
        let pid =
            self.connection.get_property(false, window, self.atoms._NET_WM_PID, AtomEnum::CARDINAL, 0, 1)?;
        let pid = pid.reply().ok().and_then(|reply| reply.value32()?.next());
        self.watched.insert(window, WatchedX11Window { pid });
        Ok(())
    }

    fn broadcast(&self, event: ScreenEvent) {
        // Fails only without subscribers.
        let _ = self.events.send(event);
    }
}
