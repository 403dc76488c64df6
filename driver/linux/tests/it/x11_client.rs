//! A small X11 application: one window in a single colour that records what it receives. It looks each key up when it
//! processes it, as real applications do.

use deskhand_desktop_linux::LinuxDesktop;
use std::{os::unix::net::UnixStream, time::Duration};
use x11rb::{
    connection::Connection,
    errors::ConnectionError,
    protocol::{
        Event,
        randr::{ConnectionExt as _, MonitorInfo},
        xproto::{
            AtomEnum, ChangeGCAux, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, CreateGCAux,
            CreateWindowAux, EventMask, Gcontext, KeyPressEvent, PropMode, Rectangle, WindowClass,
        },
    },
    rust_connection::{DefaultStream, RustConnection},
    wrapper::ConnectionExt as _,
};

x11rb::atom_manager! {
    Atoms: AtomsCookie {
        UTF8_STRING, WM_PROTOCOLS, WM_DELETE_WINDOW, _NET_WM_NAME, _NET_WM_PID, _NET_WM_PING,
        _NET_WM_WINDOW_TYPE, _NET_WM_WINDOW_TYPE_DIALOG, _NET_WM_WINDOW_TYPE_DOCK,
    }
}

/// What kind of window to open.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    pub(crate) color: u32,
    pub(crate) transient_for: Option<u32>,
    pub(crate) dialog: bool,
    pub(crate) panel: bool,
    pub(crate) pop_up: bool,
    /// Does not answer pings, so that it is not waited for.
    pub(crate) silent: bool,
}

/// The application; see the module documentation. Dropping it closes the window.
pub(crate) struct Client {
    connection: RustConnection,
    atoms: Atoms,
    root: u32,
    window: u32,
    graphics: Gcontext,
    motions: usize,
}

impl Client {
    pub(crate) fn open(desktop: &LinuxDesktop, title: &str, place: Place) -> Self {
        let (connection, root) = connect(desktop);
        let atoms = Atoms::new(&connection).unwrap().reply().unwrap();
        let window = connection.generate_id().unwrap();
        let graphics = connection.generate_id().unwrap();
        let events = EventMask::EXPOSURE
            | EventMask::KEY_PRESS
            | EventMask::BUTTON_PRESS
            | EventMask::BUTTON_RELEASE
            | EventMask::POINTER_MOTION
            | EventMask::STRUCTURE_NOTIFY;
        let attributes = CreateWindowAux::new()
            .event_mask(events)
            .background_pixel(place.color)
            .override_redirect(u32::from(place.pop_up));
        connection
            .create_window(0, window, root, 50, 60, 200, 100, 0, WindowClass::INPUT_OUTPUT, 0, &attributes)
            .unwrap();
        connection.create_gc(graphics, window, &CreateGCAux::new().foreground(place.color)).unwrap();
        let set32 = |name: u32, kind: AtomEnum, values: &[u32]| {
            connection.change_property32(PropMode::REPLACE, window, name, kind, values).unwrap();
        };
        set32(atoms._NET_WM_PID, AtomEnum::CARDINAL, &[std::process::id()]);
        let protocols = [atoms.WM_DELETE_WINDOW, atoms._NET_WM_PING];
        let offered = if place.silent { &protocols[..1] } else { &protocols };
        set32(atoms.WM_PROTOCOLS, AtomEnum::ATOM, offered);
        if let Some(owner) = place.transient_for {
            set32(AtomEnum::WM_TRANSIENT_FOR.into(), AtomEnum::WINDOW, &[owner]);
        }
        if place.panel {
            set32(atoms._NET_WM_WINDOW_TYPE, AtomEnum::ATOM, &[atoms._NET_WM_WINDOW_TYPE_DOCK]);
        }
        if place.dialog {
            set32(atoms._NET_WM_WINDOW_TYPE, AtomEnum::ATOM, &[atoms._NET_WM_WINDOW_TYPE_DIALOG]);
        }
        let class = b"testclient\0TestClient\0";
        connection
            .change_property8(PropMode::REPLACE, window, AtomEnum::WM_CLASS, AtomEnum::STRING, class)
            .unwrap();
        let client = Self { connection, atoms, root, window, graphics, motions: 0 };
        client.rename(title);
        client.connection.map_window(window).unwrap();
        client.connection.flush().unwrap();
        client
    }

    pub(crate) fn window(&self) -> u32 {
        self.window
    }

    /// Moves the window to this column.
    pub(crate) fn moves_to(&self, x: i32) {
        self.connection
            .configure_window(self.window, &ConfigureWindowAux::new().x(x))
            .unwrap()
            .check()
            .unwrap();
    }

    pub(crate) fn rename(&self, title: &str) {
        self.connection
            .change_property8(
                PropMode::REPLACE,
                self.window,
                self.atoms._NET_WM_NAME,
                self.atoms.UTF8_STRING,
                title.as_bytes(),
            )
            .unwrap();
        self.connection.flush().unwrap();
    }

    pub(crate) fn paint(&self) {
        let all = Rectangle { x: 0, y: 0, width: 200, height: 100 };
        self.connection.poly_fill_rectangle(self.window, self.graphics, &[all]).unwrap();
        self.connection.get_input_focus().unwrap().reply().unwrap();
    }

    /// Fills a part of the window with a colour, and returns once the server has drawn it.
    pub(crate) fn fill(&self, area: Rectangle, color: u32) {
        let values = ChangeGCAux::new().foreground(color);
        self.connection.change_gc(self.graphics, &values).unwrap();
        self.connection.poly_fill_rectangle(self.window, self.graphics, &[area]).unwrap();
        self.connection.get_input_focus().unwrap().reply().unwrap();
    }

    /// Waits until the window is on the screen.
    pub(crate) fn wait_until_drawn(&self) {
        while !matches!(self.connection.wait_for_event().unwrap(), Event::Expose(_)) {}
        self.paint();
    }

    /// Waits until the window has no frame any more, because its window manager has ended.
    pub(crate) fn wait_until_nobody_manages_it(&self) {
        while self.connection.query_tree(self.window).unwrap().reply().unwrap().parent != self.root {
            self.connection.wait_for_event().unwrap();
        }
    }

    /// Closes the window once it is asked to.
    pub(crate) fn close_when_asked(self) {
        loop {
            if let Event::ClientMessage(message) = self.connection.wait_for_event().unwrap()
                && message.data.as_data32()[0] == self.atoms.WM_DELETE_WINDOW
            {
                return;
            }
        }
    }

    /// How often the pointer moved.
    pub(crate) fn motions(&self) -> usize {
        self.motions
    }

    fn next(&mut self) -> Event {
        loop {
            let event = self.connection.wait_for_event().unwrap();
            if let Event::ClientMessage(message) = &event {
                self.answer(message).unwrap();
            } else if let Event::MotionNotify(_) = &event {
                self.motions += 1;
            } else if let Event::KeyPress(_) | Event::ButtonPress(_) | Event::ButtonRelease(_) = &event {
                return event;
            }
        }
    }

    fn answer(&self, message: &ClientMessageEvent) -> Result<(), ConnectionError> {
        if message.data.as_data32()[0] == self.atoms._NET_WM_PING {
            let pong = ClientMessageEvent { window: self.root, ..*message };
            let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
            self.connection.send_event(false, self.root, mask, pong)?;
            self.connection.flush()?;
        }
        Ok(())
    }

    /// Answers pings until the display ends.
    pub(crate) fn answer_until_closed(self) {
        while let Ok(event) = self.connection.wait_for_event() {
            if let Event::ClientMessage(message) = &event
                && self.answer(message).is_err()
            {
                return;
            }
        }
    }

    /// The symbol that a key produces now.
    fn symbol(&self, key: &KeyPressEvent) -> u32 {
        let map = self.connection.get_keyboard_mapping(key.detail, 1).unwrap().reply().unwrap();
        let shift = usize::from(u16::from(key.state) & 1);
        let symbol = map.keysyms[shift];
        if symbol == 0 { map.keysyms[0] } else { symbol }
    }

    /// The text of the next `count` keys that are not modifiers.
    pub(crate) fn read_keys(&mut self, count: usize) -> String {
        let mut text = String::new();
        while text.chars().count() < count {
            let Event::KeyPress(key) = self.next() else { continue };
            text.extend(xkeysym::Keysym::new(self.symbol(&key)).key_char());
        }
        text
    }

    /// The next key that is not a modifier, with the modifiers that are held.
    pub(crate) fn read_chord(&mut self) -> String {
        loop {
            let Event::KeyPress(key) = self.next() else { continue };
            let symbol = xkeysym::Keysym::new(self.symbol(&key));
            if symbol.is_modifier_key() {
                continue;
            }
            let text = modifiers_of(u16::from(key.state));
            let name = symbol.name().unwrap_or_default().trim_start_matches("XK_").to_owned();
            let character = symbol.key_char().filter(|character| !character.is_control());
            return text + &character.map_or(name, String::from);
        }
    }

    /// The next presses and releases of buttons.
    pub(crate) fn read_buttons(&mut self, count: usize) -> Vec<String> {
        let mut all = Vec::new();
        while all.len() < count {
            let event = self.next();
            let (sign, button) = if let Event::ButtonPress(button) = &event {
                ('+', button)
            } else if let Event::ButtonRelease(button) = &event {
                ('-', button)
            } else if let Event::KeyPress(_) | Event::KeyRelease(_) = &event {
                continue;
            } else {
                panic!("{event:?}")
            };
            let held = modifiers_of(u16::from(button.state));
            all.push(format!("{sign}{held}{} {},{}", button.detail, button.event_x, button.event_y));
        }
        all
    }
}

/// The modifiers that an event was sent with, each with a `+`.
fn modifiers_of(state: u16) -> String {
    let held = [(4, "ctrl+"), (8, "alt+"), (1, "shift+")].into_iter().filter(|(bit, _)| state & bit != 0);
    held.map(|(_, name)| name).collect()
}

/// Divides the screen into monitors side by side, as RandR 1.5 lets clients do: each has the height of the screen.
pub(crate) fn set_monitors(desktop: &LinuxDesktop, widths: &[u16], height: u16) {
    let (connection, root) = connect(desktop);
    let outputs = connection.randr_get_screen_resources(root).unwrap().reply().unwrap().outputs;
    let mut x = 0;
    for (index, width) in widths.iter().enumerate() {
        let name =
            connection.intern_atom(false, format!("part-{index}").as_bytes()).unwrap().reply().unwrap().atom;
        let monitor = MonitorInfo {
            name,
            primary: index == 0,
            automatic: false,
            x,
            y: 0,
            width: *width,
            height,
            width_in_millimeters: 200,
            height_in_millimeters: 200,
            // The monitor of the whole screen goes with its output.
            outputs: if index == 0 { outputs.clone() } else { Vec::new() },
        };
        connection.randr_set_monitor(root, monitor).unwrap().check().unwrap();
        x += i16::try_from(*width).unwrap();
    }
}

/// A connection to the X server of a desktop, and its root window.
pub(crate) fn connect(desktop: &LinuxDesktop) -> (RustConnection, u32) {
    let number = desktop.display_name().trim_start_matches(':');
    let cookie = std::fs::read(desktop.private_folder().unwrap().join("Xauthority")).unwrap();
    let cookie = cookie[cookie.len() - 16..].to_vec();
    let stream = UnixStream::connect(format!("/tmp/.X11-unix/X{number}")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let (stream, _) = DefaultStream::from_unix_stream(stream).unwrap();
    let name = b"MIT-MAGIC-COOKIE-1".to_vec();
    let connection = RustConnection::connect_to_stream_with_auth_info(stream, 0, name, cookie).unwrap();
    let root = connection.setup().roots[0].root;
    (connection, root)
}
