//! State of the thread of the X connection, and the requests that other modules build on.

use std::cell::Cell;

use deskhand_ui::geometry::{Point, Screen};
use x11rb::{
    connection::Connection,
    protocol::xproto::{Atom, AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask},
    rust_connection::RustConnection,
};

use super::{
    address::X11Address, capture::X11Capture, fault::WorkResult, keyboard::Keyboard, own_messages::sealed,
};
use crate::screen::dragging::Press;

x11rb::atom_manager! {
    /// The atoms that are used here.
    pub(crate) Atoms: AtomsCookie {
        DESKHAND_FENCE,
        DESKHAND_QUIT,
        DESKHAND_WINDOW_ID,
        UTF8_STRING,
        XdndSelection,
        WM_PROTOCOLS,
        WM_DELETE_WINDOW,
        _NET_ACTIVE_WINDOW,
        _NET_CLIENT_LIST,
        _NET_CLIENT_LIST_STACKING,
        _NET_CLOSE_WINDOW,
        _NET_FRAME_EXTENTS,
        _NET_REQUEST_FRAME_EXTENTS,
        _NET_SUPPORTED,
        _NET_SUPPORTING_WM_CHECK,
        _NET_WM_NAME,
        _NET_WM_PID,
        _NET_WM_PING,
        _NET_WM_STATE,
        _NET_WM_STATE_FULLSCREEN,
        _NET_WM_STATE_MAXIMIZED_HORZ,
        _NET_WM_STATE_MAXIMIZED_VERT,
        _NET_WM_STATE_MODAL,
        _NET_WM_STATE_SKIP_TASKBAR,
        _NET_WM_WINDOW_TYPE,
        _NET_WM_WINDOW_TYPE_COMBO,
        _NET_WM_WINDOW_TYPE_DESKTOP,
        _NET_WM_WINDOW_TYPE_DIALOG,
        _NET_WM_WINDOW_TYPE_DND,
        _NET_WM_WINDOW_TYPE_DOCK,
        _NET_WM_WINDOW_TYPE_DROPDOWN_MENU,
        _NET_WM_WINDOW_TYPE_MENU,
        _NET_WM_WINDOW_TYPE_NORMAL,
        _NET_WM_WINDOW_TYPE_NOTIFICATION,
        _NET_WM_WINDOW_TYPE_POPUP_MENU,
        _NET_WM_WINDOW_TYPE_SPLASH,
        _NET_WM_WINDOW_TYPE_TOOLBAR,
        _NET_WM_WINDOW_TYPE_TOOLTIP,
        _NET_WM_WINDOW_TYPE_UTILITY,
    }
}

/// Set in the serial of a ping that the owner of the desktop did not send. Every client that listens for answers gets all of them.
pub(crate) const PING_OF_OTHERS: u32 = 1 << 31;

/// State of the thread of the X connection.
pub(crate) struct X11Worker {
    /// The connection.
    pub(crate) connection: RustConnection,
    /// The root window: the whole screen.
    pub(crate) root: u32,
    /// The atoms.
    pub(crate) atoms: Atoms,
    /// Takes screenshots.
    pub(crate) camera: X11Capture,
    /// The keyboard map and the keys that were bound.
    pub(crate) keyboard: Keyboard,
    /// `true` if media and similar keys may be bound to other symbols.
    pub(crate) may_reclaim_keys: bool,
    pub(super) own_window: u32,
    /// The position that the pointer was last moved to.
    pub(super) pointer: Cell<Point<Screen>>,
    /// The last press of a mouse button.
    pub(super) pressed: Cell<Option<Press>>,
}

impl X11Worker {
    /// Takes over a connection. Media and similar keys may be bound to other symbols on a display that we started.
    pub(crate) fn new(
        connection: RustConnection,
        root: u32,
        atoms: Atoms,
        own_window: u32,
        address: &X11Address,
    ) -> Self {
        Self {
            connection,
            root,
            atoms,
            camera: X11Capture::default(),
            keyboard: Keyboard::default(),
            may_reclaim_keys: matches!(address, X11Address::Own { .. }),
            own_window,
            pointer: Cell::new(Point::new(0, 0)),
            pressed: Cell::new(None),
        }
    }

    /// Waits until the X server has processed all requests so far.
    pub(crate) fn round_trip(&self) -> WorkResult<()> {
        self.connection.get_input_focus()?.reply()?;
        Ok(())
    }

    /// Sends a client message to the root window, for the window manager.
    pub(crate) fn tell_window_manager(&self, window: u32, message: Atom, data: [u32; 5]) -> WorkResult<()> {
        let event = ClientMessageEvent::new(32, window, message, data);
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        self.connection.send_event(false, self.root, mask, event)?;
        self.round_trip()
    }

    /// Sends the window manager a request that it must answer by setting a property on our own window (EWMH,
    /// `_NET_REQUEST_FRAME_EXTENTS`).
    pub(crate) fn ask_window_manager(&self) -> WorkResult<()> {
        self.connection.delete_property(self.own_window, self.atoms._NET_FRAME_EXTENTS)?;
        self.tell_window_manager(self.own_window, self.atoms._NET_REQUEST_FRAME_EXTENTS, [0; 5])
    }

    /// Returns `true` if the window manager has answered the last request.
    pub(crate) fn window_manager_answered(&self) -> WorkResult<bool> {
        let answer = self.atoms._NET_FRAME_EXTENTS;
        let reply = self.connection.get_property(false, self.own_window, answer, AtomEnum::ANY, 0, 4)?;
        Ok(reply.reply()?.type_ != x11rb::NONE)
    }

    /// Sends the event reader a message that arrives after all events that the server sent before it.
    pub(super) fn put_fence(&self, serial: u32) -> WorkResult<()> {
        let fence = ClientMessageEvent::new(32, self.own_window, self.atoms.DESKHAND_FENCE, sealed(serial));
        self.connection.send_event(false, self.own_window, EventMask::NO_EVENT, fence)?;
        self.connection.flush()?;
        Ok(())
    }

    /// Restores the keyboard and stops the event reader.
    pub(crate) fn finish(&mut self) -> WorkResult<()> {
        self.unbind_keys()?;
        let quit = ClientMessageEvent::new(32, self.own_window, self.atoms.DESKHAND_QUIT, sealed(0));
        self.connection.send_event(false, self.own_window, EventMask::NO_EVENT, quit)?;
        self.round_trip()
    }
}
