//! The reader of X events: one thread with a connection of its own.
//!
//! It selects the events of the root window and of every top-level window, watches each for damage, and tells
//! everybody who subscribed. It decides nothing.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use x11rb::{
    connection::{Connection, RequestConnection},
    protocol::{
        Event,
        damage::{self, ConnectionExt as _},
        xproto::{
            AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, MapState, PropertyNotifyEvent,
        },
    },
    rust_connection::RustConnection,
};

use super::{
    display::{Atoms, WorkResult},
    windows::Registry,
};

/// The most windows that are watched for damage at a time.
const WATCHED_MAX: usize = 512;

/// Something that the X server told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XEvent {
    /// A window was opened or closed, its title or the active window changed.
    WindowsChanged,
    /// Pixels of a top-level window changed.
    Damage {
        /// The X id of the window.
        window: u32,
    },
    /// The X server has ended.
    DisplayGone,
}

/// See the module.
pub(crate) struct EventReader {
    connection: RustConnection,
    root: u32,
    atoms: Atoms,
    events: broadcast::Sender<XEvent>,
    pongs: watch::Sender<u32>,
    gone: CancellationToken,
    registry: Arc<Mutex<Registry>>,
    /// The damage object of each watched window; 0 where the server has no DAMAGE extension.
    watched: HashMap<u32, damage::Damage>,
    has_damage: bool,
}

impl EventReader {
    pub(crate) fn new(
        connection: RustConnection,
        root: u32,
        atoms: Atoms,
        events: broadcast::Sender<XEvent>,
        pongs: watch::Sender<u32>,
        gone: CancellationToken,
        registry: Arc<Mutex<Registry>>,
    ) -> Self {
        let watched = HashMap::new();
        Self { connection, root, atoms, events, pongs, gone, registry, watched, has_damage: false }
    }

    /// Selects the events of the root window and adopts the windows that are there.
    pub(crate) fn select(&mut self) -> WorkResult<()> {
        self.has_damage = self.connection.extension_information(damage::X11_EXTENSION_NAME)?.is_some();
        if self.has_damage {
            self.connection.damage_query_version(1, 1)?.reply()?;
        }
        let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::PROPERTY_CHANGE | EventMask::STRUCTURE_NOTIFY;
        let attributes = ChangeWindowAttributesAux::new().event_mask(mask);
        self.connection.change_window_attributes(self.root, &attributes)?.check()?;
        self.adopt_clients()?;
        let children = self.connection.query_tree(self.root)?.reply()?.children;
        for window in children {
            // Windows may go away while we ask.
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
                // One refused request: a window that went away in between.
                Err(fault) if fault.is_refusal() => {}
                Err(fault) => {
                    tracing::debug!(?fault, "the X server is gone");
                    break;
                }
            }
        }
        self.gone.cancel();
        self.tell(XEvent::DisplayGone);
    }

    /// Returns whether to go on.
    fn handle(&mut self, event: &Event) -> WorkResult<bool> {
        if let Event::DamageNotify(damaged) = event {
            // The server is silent about further damage until this is done. Only then it is told on: what is
            // drawn before belongs to this event, and what is drawn after it brings one of its own.
            self.connection.damage_subtract(damaged.damage, x11rb::NONE, x11rb::NONE)?;
            self.connection.get_input_focus()?.reply()?;
            self.tell(XEvent::Damage { window: damaged.drawable });
        } else if let Event::MapNotify(mapped) = event {
            if mapped.override_redirect {
                self.adopt(mapped.window)?;
                self.connection.flush()?;
            }
            self.tell(XEvent::WindowsChanged);
        } else if let Event::UnmapNotify(_) = event {
            self.tell(XEvent::WindowsChanged);
        } else if let Event::DestroyNotify(destroyed) = event {
            // The server has dropped the damage object with its window.
            self.watched.remove(&destroyed.window);
            self.registry.lock().unwrap_or_else(PoisonError::into_inner).forget(destroyed.window);
            self.tell(XEvent::WindowsChanged);
        } else if let Event::PropertyNotify(changed) = event {
            self.property_changed(changed)?;
        } else if let Event::ClientMessage(message) = event {
            if message.type_ == self.atoms.DESKHAND_QUIT {
                return Ok(false);
            }
            let [protocol, serial, ..] = message.data.as_data32();
            if message.type_ == self.atoms.WM_PROTOCOLS
                && protocol == self.atoms._NET_WM_PING
                && message.window == self.root
            {
                self.pongs.send_replace(serial);
            }
        }
        Ok(true)
    }

    fn property_changed(&mut self, changed: &PropertyNotifyEvent) -> WorkResult<()> {
        let atoms = &self.atoms;
        let tells = if changed.window == self.root {
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
        if tells {
            self.tell(XEvent::WindowsChanged);
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

    /// Selects the events of a top-level window. It may be gone already: the error comes as an event.
    fn adopt(&mut self, window: u32) -> WorkResult<()> {
        if self.watched.contains_key(&window) || self.watched.len() >= WATCHED_MAX {
            return Ok(());
        }
        let attributes = ChangeWindowAttributesAux::new()
            .event_mask(EventMask::PROPERTY_CHANGE | EventMask::STRUCTURE_NOTIFY);
        self.connection.change_window_attributes(window, &attributes)?;
        let mut object = 0;
        if self.has_damage {
            object = self.connection.generate_id()?;
            self.connection.damage_create(object, window, damage::ReportLevel::NON_EMPTY)?;
        }
        self.watched.insert(window, object);
        Ok(())
    }

    fn tell(&self, event: XEvent) {
        // Nobody listens: nothing to tell.
        let _ = self.events.send(event);
    }
}
