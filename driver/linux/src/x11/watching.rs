//! Mouse and keyboard input of a person, as the X server reports it (XInput 2, raw events). Nothing is taken
//! from applications.
//!
//! Raw events come from every device, synthetic ones too, and also while a menu holds the pointer. They have
//! no position: the pointer is queried right after each.

use std::{collections::HashMap, io, os::fd::OwnedFd, thread, time::Instant};

use deskhand_desktop::{
    DesktopError, DesktopResult, PERSON_INPUTS_WAITING_MAX, PersonInput, TimedPersonInput,
    keys::{ChordKey, KeyChord, KeyModifier, NamedKey},
};
use deskhand_ui::geometry::Point;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use tokio::sync::mpsc;
use x11rb::{
    connection::Connection as _,
    protocol::{
        Event,
        xinput::{ConnectionExt as _, Device, EventMask, RawButtonPressEvent, RawKeyPressEvent, XIEventMask},
        xproto::ConnectionExt as _,
    },
    rust_connection::RustConnection,
};

use super::{
    address::X11Address,
    fault::WorkResult,
    keyboard::{ALT, CONTROL, LEVEL3, SHIFT, SUPER, keysym_of_key},
};

/// Symbols of modifiers besides those that are pressed: the right ones, and those of other names.
const MODIFIERS: [(u32, HeldModifier); 13] = [
    (SHIFT, HeldModifier::Shift),
    (0xffe2, HeldModifier::Shift),
    (CONTROL, HeldModifier::Other(KeyModifier::Ctrl)),
    (0xffe4, HeldModifier::Other(KeyModifier::Ctrl)),
    (ALT, HeldModifier::Other(KeyModifier::Alt)),
    (0xffea, HeldModifier::Other(KeyModifier::Alt)),
    (0xffe7, HeldModifier::Other(KeyModifier::Alt)),
    (0xffe8, HeldModifier::Other(KeyModifier::Alt)),
    (SUPER, HeldModifier::Other(KeyModifier::Super)),
    (0xffec, HeldModifier::Other(KeyModifier::Super)),
    (LEVEL3, HeldModifier::Level3),
    // Caps Lock and Num Lock: what they do is seen in what is typed.
    (0xffe5, HeldModifier::Nothing),
    (0xff7f, HeldModifier::Nothing),
];

/// The first symbol that is a character by its code alone (`0x01000000 + code`).
const UNICODE: u32 = 0x0100_0000;

/// The key `Pause`.
const PAUSE: u32 = 0xff13;

/// The mouse buttons that scroll.
const SCROLLING: std::ops::RangeInclusive<u32> = 4..=7;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeldModifier {
    Shift,
    Level3,
    Other(KeyModifier),
    Nothing,
}

/// Watches mouse and keyboard until it is dropped.
#[derive(Debug)]
pub struct InputWatch {
    inputs: mpsc::Receiver<TimedPersonInput>,
    stop: OwnedFd,
}

impl InputWatch {
    /// Begins to watch. Blocking.
    ///
    /// # Errors
    /// [`DesktopError`] if the X server is gone or has no XInput 2.
    pub(crate) fn begin(address: &X11Address) -> DesktopResult<Self> {
        let operation = "watch mouse and keyboard";
        let failed = |error: io::Error| DesktopError::failed(operation, error);
        let (connection, screen) = address.connect()?;
        let name = format!("{address:?}");
        let (root, keys) =
            select(&connection, screen).map_err(|fault| fault.into_desktop_error(operation, &name))?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC).map_err(|error| failed(error.into()))?;
        let stopped = stop.try_clone().map_err(failed)?;
        let (sender, inputs) = mpsc::channel(PERSON_INPUTS_WAITING_MAX);
        let reader = RawInputReader { connection, root, keys, held: HashMap::new(), sender };
        thread::Builder::new()
            .name("x11-input".to_owned())
            .spawn(move || reader.run(&stopped))
            .map_err(failed)?;
        Ok(Self { inputs, stop })
    }

    /// Returns the inputs as they are made; the channel ends when the X server has ended.
    pub const fn inputs(&mut self) -> &mut mpsc::Receiver<TimedPersonInput> {
        &mut self.inputs
    }
}

impl Drop for InputWatch {
    fn drop(&mut self) {
        // The thread ends when it can read this; if it has ended, nobody reads it.
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
    }
}

/// The symbols of the keys.
struct KeysymTable {
    first: u8,
    per_key: usize,
    symbols: Vec<u32>,
}

impl KeysymTable {
    fn load(connection: &RustConnection) -> WorkResult<Self> {
        let setup = connection.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let map = connection.get_keyboard_mapping(first, last - first + 1)?.reply()?;
        Ok(Self { first, per_key: usize::from(map.keysyms_per_keycode).max(1), symbols: map.keysyms })
    }

    fn symbol(&self, keycode: u32, column: usize) -> Option<u32> {
        let row = usize::try_from(keycode).ok()?.checked_sub(usize::from(self.first))?;
        let row = self.symbols.get(row * self.per_key..(row + 1) * self.per_key)?;
        row.get(column).copied().filter(|symbol| *symbol != 0)
    }
}

/// Selects the raw events of all devices.
fn select(connection: &RustConnection, screen: usize) -> WorkResult<(u32, KeysymTable)> {
    connection.xinput_xi_query_version(2, 2)?.reply()?;
    let root = connection.setup().roots.get(screen).map_or(0, |root| root.root);
    let events = XIEventMask::RAW_KEY_PRESS
        | XIEventMask::RAW_KEY_RELEASE
        | XIEventMask::RAW_BUTTON_PRESS
        | XIEventMask::RAW_BUTTON_RELEASE;
    let mask = EventMask { deviceid: u16::from(Device::ALL_MASTER), mask: vec![events] };
    connection.xinput_xi_select_events(root, &[mask])?.check()?;
    Ok((root, KeysymTable::load(connection)?))
}

struct RawInputReader {
    connection: RustConnection,
    root: u32,
    keys: KeysymTable,
    /// The keys of modifiers that are held.
    held: HashMap<u32, HeldModifier>,
    sender: mpsc::Sender<TimedPersonInput>,
}

impl RawInputReader {
    /// Reads until the watch is dropped or the server has ended.
    fn run(mut self, stopped: &OwnedFd) {
        loop {
            loop {
                match self.connection.poll_for_event() {
                    Ok(Some(event)) => match self.handle(&event) {
                        Ok(()) => {}
                        Err(fault) if fault.is_refusal() => {}
                        Err(fault) => return tracing::debug!(?fault, "the X server is gone"),
                    },
                    Ok(None) => break,
                    Err(error) => return tracing::debug!(%error, "the X server is gone"),
                }
            }
            let stream = self.connection.stream();
            let mut both = [PollFd::new(stream, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
            match poll(&mut both, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return tracing::debug!(%error, "the X server is not read any more"),
            }
            if both.last().is_some_and(|stop| stop.revents().contains(PollFlags::IN)) {
                return;
            }
        }
    }

    fn handle(&mut self, event: &Event) -> WorkResult<()> {
        if let Event::XinputRawKeyPress(key) = event {
            self.key(key)?;
        } else if let Event::XinputRawKeyRelease(key) = event {
            self.held.remove(&key.detail);
        } else if let Event::XinputRawButtonPress(button) = event {
            self.button(button, /*pressed*/ true)?;
        } else if let Event::XinputRawButtonRelease(button) = event {
            self.button(button, /*pressed*/ false)?;
        } else if let Event::MappingNotify(_) = event {
            self.keys = KeysymTable::load(&self.connection)?;
        }
        Ok(())
    }

    fn button(&self, event: &RawButtonPressEvent, pressed: bool) -> WorkResult<()> {
        let button = event.detail;
        if SCROLLING.contains(&button) {
            return Ok(());
        }
        let pointer = self.connection.query_pointer(self.root)?.reply()?;
        let at = Point::new(i32::from(pointer.root_x), i32::from(pointer.root_y));
        let input = if pressed {
            PersonInput::Pressed { button, at, held: self.modifiers() }
        } else {
            PersonInput::Released { button, at }
        };
        self.send(input);
        Ok(())
    }

    fn key(&mut self, event: &RawKeyPressEvent) -> WorkResult<()> {
        let plain = self.keys.symbol(event.detail, 0);
        let held = plain.and_then(|symbol| MODIFIERS.iter().find(|(known, _)| *known == symbol));
        if let Some((_, held)) = held {
            self.held.insert(event.detail, *held);
            return Ok(());
        }
        if plain == Some(PAUSE) {
            self.send(PersonInput::Pause);
            return Ok(());
        }
        // The locks and the group are those of the server.
        let pointer = self.connection.query_pointer(self.root)?.reply()?;
        let locked = u16::from(pointer.mask) & 2 != 0;
        let group = usize::from((u16::from(pointer.mask) >> 13) & 3).min(1);
        if let Some(chord) = self.chord(event.detail, locked, group) {
            self.send(PersonInput::Key { chord });
        }
        Ok(())
    }

    /// The key with what is held.
    fn chord(&self, keycode: u32, locked: bool, group: usize) -> Option<KeyChord> {
        let is_held = |wanted: HeldModifier| self.held.values().any(|held| *held == wanted);
        let (shift, level3) = (is_held(HeldModifier::Shift), is_held(HeldModifier::Level3));
        let first = if level3 { 4 + group * 2 } else { group * 2 };
        let plain = self.keys.symbol(keycode, first).or_else(|| self.keys.symbol(keycode, 0))?;
        let shifted = self.keys.symbol(keycode, first + 1);
        let mut modifiers = self.modifiers();
        let is_chord = modifiers.iter().any(|modifier| *modifier != KeyModifier::Shift);
        let is_letter = character_of(plain).is_some_and(char::is_alphabetic);
        let symbol = match shifted {
            // With Ctrl and others, the key counts, not what it would type.
            Some(shifted) if !is_chord && shift != (locked && is_letter) => shifted,
            Some(_) | None => plain,
        };
        let key = key_of(symbol)?;
        // Shift made the character.
        if matches!(key, ChordKey::Char(_)) && !is_chord {
            modifiers.retain(|modifier| *modifier != KeyModifier::Shift);
        }
        Some(KeyChord { modifiers, key })
    }

    fn modifiers(&self) -> Vec<KeyModifier> {
        let mut modifiers: Vec<KeyModifier> = self
            .held
            .values()
            .filter_map(|held| match held {
                HeldModifier::Shift => Some(KeyModifier::Shift),
                HeldModifier::Other(modifier) => Some(*modifier),
                HeldModifier::Level3 | HeldModifier::Nothing => None,
            })
            .collect();
        modifiers.sort_unstable();
        modifiers.dedup();
        modifiers
    }

    fn send(&self, input: PersonInput) {
        // Waits for room on this thread. Nobody listens any more while the watch is dropped, which also ends the wait.
        let _ = self.sender.blocking_send(TimedPersonInput { at: Instant::now(), input });
    }
}

/// The key of a symbol; `None` for one that types nothing and has no name.
fn key_of(symbol: u32) -> Option<ChordKey> {
    const NAMED: [NamedKey; 17] = [
        NamedKey::Return,
        NamedKey::Tab,
        NamedKey::Escape,
        NamedKey::Space,
        NamedKey::BackSpace,
        NamedKey::Delete,
        NamedKey::Insert,
        NamedKey::Home,
        NamedKey::End,
        NamedKey::PageUp,
        NamedKey::PageDown,
        NamedKey::Left,
        NamedKey::Up,
        NamedKey::Right,
        NamedKey::Down,
        NamedKey::Menu,
        NamedKey::F(1),
    ];
    let functions = (2..=24).map(NamedKey::F);
    let named = NAMED.into_iter().chain(functions).map(ChordKey::Named);
    // Enter and Shift+Tab have symbols of their own.
    let symbol = match symbol {
        0xff8d => 0xff0d,
        0xfe20 => 0xff09,
        _ => symbol,
    };
    let is = |key: &ChordKey| keysym_of_key(*key, &[]) == Some(symbol);
    named.into_iter().find(is).or_else(|| character_of(symbol).map(ChordKey::Char))
}

/// The character that a symbol types.
fn character_of(symbol: u32) -> Option<char> {
    match symbol {
        UNICODE.. => char::from_u32(symbol - UNICODE),
        _ => xkeysym::Keysym::new(symbol).key_char(),
    }
    .filter(|character| !character.is_control())
}
