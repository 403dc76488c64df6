//! A person's pointer and keys, by `wlr-virtual-pointer` and `virtual-keyboard`.

use std::{fs::File, io::Write as _, os::fd::AsFd as _, time::Instant};

use deskhand_desktop::{
    Button, DesktopError, DesktopResult,
    keys::{KeyChord, KeyModifier},
};
use deskhand_ui::geometry::{Point, Screen};
use rustix::fs::{MemfdFlags, memfd_create};
use wayland_client::{
    delegate_noop,
    protocol::{
        wl_keyboard::KeymapFormat,
        wl_pointer::{Axis, AxisSource, ButtonState},
        wl_seat::WlSeat,
    },
};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::{
    zwp_virtual_keyboard_manager_v1::ZwpVirtualKeyboardManagerV1,
    zwp_virtual_keyboard_v1::ZwpVirtualKeyboardV1,
};
use wayland_protocols_wlr::virtual_pointer::v1::client::{
    zwlr_virtual_pointer_manager_v1::ZwlrVirtualPointerManagerV1,
    zwlr_virtual_pointer_v1::ZwlrVirtualPointerV1,
};

use crate::{
    client::WaylandClient,
    keyboard::{Keymap, Symbol, modifier},
    monitors::layout,
    state::WaylandState,
};

/// The most symbols that are sent in one piece. A compositor ends the connection of an application that leaves too much unread.
const PIECE_MAX: usize = 100;
/// The most wheel notches of one scroll.
pub(crate) const NOTCHES_MAX: u32 = 200;
/// Distance of one notch of a wheel, as most wheels have it.
const NOTCH: f64 = 15.0;

/// The two halves of a press of a button or key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PressTransition {
    /// The button or key goes down.
    Press,
    /// The button or key comes up.
    Release,
}

/// The symbols of a text.
///
/// # Errors
/// [`DesktopError::Key`] for control characters other than line ends and tabs.
pub fn symbols_of(text: &str) -> DesktopResult<Vec<Symbol>> {
    let symbol = |character: char| {
        Symbol::of(character).ok_or_else(|| DesktopError::Key {
            key: character.escape_default().to_string(),
            reason: "it is a control character; press the key by its name instead".to_owned(),
        })
    };
    text.replace("\r\n", "\n").chars().map(symbol).collect()
}

/// The code of a button (`linux/input-event-codes.h`).
pub(crate) const fn button_code(button: Button) -> u32 {
    match button {
        Button::Left => 0x110,
        Button::Right => 0x111,
        Button::Middle => 0x112,
    }
}

/// A pointer and a keyboard of our own.
pub(crate) struct VirtualHands {
    pointer: ZwlrVirtualPointerV1,
    keyboard: ZwpVirtualKeyboardV1,
    /// The keymap that the keyboard has.
    keymap: Keymap,
    begun: Instant,
}

delegate_noop!(WaylandState: ZwlrVirtualPointerManagerV1);
delegate_noop!(WaylandState: ZwlrVirtualPointerV1);
delegate_noop!(WaylandState: ZwpVirtualKeyboardManagerV1);
delegate_noop!(WaylandState: ZwpVirtualKeyboardV1);

impl VirtualHands {
    pub(crate) fn new(client: &mut WaylandClient) -> DesktopResult<Self> {
        const OPERATION: &str = "get a pointer and a keyboard";
        let handle = client.queue.handle();
        let seat: WlSeat = client.bind(OPERATION, 1..=5)?;
        let pointers: ZwlrVirtualPointerManagerV1 = client.bind(OPERATION, 1..=2)?;
        let keyboards: ZwpVirtualKeyboardManagerV1 = client.bind(OPERATION, 1..=1)?;
        let pointer = pointers.create_virtual_pointer(Some(&seat), &handle, ());
        let keyboard = keyboards.create_virtual_keyboard(&seat, &handle, ());
        let mut hands = Self { pointer, keyboard, keymap: Keymap::default(), begun: Instant::now() };
        hands.use_keymap(Keymap::default())?;
        client.round_trip()?;
        Ok(hands)
    }

    fn time(&self) -> u32 {
        // It wraps around, as the protocol has it.
        (self.begun.elapsed().as_millis() & u128::from(u32::MAX)).try_into().unwrap_or(0)
    }

    fn use_keymap(&mut self, keymap: Keymap) -> DesktopResult<()> {
        let failed =
            |error: std::io::Error| DesktopError::failed("share a keymap with the compositor", error);
        let mut text = keymap.text().into_bytes();
        text.push(0);
        let file =
            memfd_create("deskhand-keymap", MemfdFlags::CLOEXEC).map_err(|error| failed(error.into()))?;
        let mut file = File::from(file);
        file.write_all(&text).map_err(failed)?;
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.keyboard.keymap(KeymapFormat::XkbV1.into(), file.as_fd(), length);
        self.keymap = keymap;
        Ok(())
    }

    /// Moves the pointer.
    pub(crate) fn move_to(&self, client: &WaylandClient, to: Point<Screen>) -> DesktopResult<()> {
        let screen = layout(&client.state.monitors);
        if !screen.contains(&to) {
            let what =
                format!("{},{} lies outside the {}x{} screen", to.x, to.y, screen.width, screen.height);
            return Err(DesktopError::failed("move the pointer", what));
        }
        let along = |at: i32| u32::try_from(at).unwrap_or(0);
        let (x, y) = (along(to.x - screen.x), along(to.y - screen.y));
        self.pointer.motion_absolute(self.time(), x, y, along(screen.width), along(screen.height));
        self.pointer.frame();
        Ok(())
    }

    /// Presses or releases a button.
    pub(crate) fn button(&self, button: Button, what: PressTransition) {
        let code = button_code(button);
        let state = match what {
            PressTransition::Press => ButtonState::Pressed,
            PressTransition::Release => ButtonState::Released,
        };
        self.pointer.button(self.time(), code, state);
        self.pointer.frame();
    }

    /// Turns the wheel by notches, down and to the right.
    pub(crate) fn scroll(&self, right: i32, down: i32) {
        for (axis, notches) in [(Axis::VerticalScroll, down), (Axis::HorizontalScroll, right)] {
            let way = notches.signum();
            for _ in 0..notches.unsigned_abs().min(NOTCHES_MAX) {
                self.pointer.axis_source(AxisSource::Wheel);
                self.pointer.axis_discrete(self.time(), axis, NOTCH * f64::from(way), way);
                self.pointer.frame();
            }
        }
    }

    /// Holds or lets go modifiers.
    pub(crate) fn modifiers(&self, modifiers: &[KeyModifier], what: PressTransition) {
        let mut held = match what {
            PressTransition::Press => 0,
            PressTransition::Release => modifiers.iter().fold(0, |bits, one| bits | modifier(*one).1),
        };
        let mut change = |one: &KeyModifier| {
            let (code, bit) = modifier(*one);
            let down = what == PressTransition::Press;
            held = if down { held | bit } else { held & !bit };
            self.keyboard.key(self.time(), code, u32::from(down));
            self.keyboard.modifiers(held, 0, 0, 0);
        };
        match what {
            PressTransition::Press => modifiers.iter().for_each(&mut change),
            PressTransition::Release => modifiers.iter().rev().for_each(&mut change),
        }
    }

    /// Presses and releases one key with modifiers.
    fn stroke(&self, (code, shift): (u32, bool), wanted: &[KeyModifier]) {
        let mut modifiers = wanted.to_vec();
        if shift && !modifiers.contains(&KeyModifier::Shift) {
            modifiers.push(KeyModifier::Shift);
        }
        self.modifiers(&modifiers, PressTransition::Press);
        self.keyboard.key(self.time(), code, 1);
        self.keyboard.key(self.time(), code, 0);
        self.modifiers(&modifiers, PressTransition::Release);
    }

    /// Types as many symbols as fit into one piece, at most `most`; returns how many.
    pub(crate) fn type_piece(&mut self, symbols: &[Symbol], most: usize) -> DesktopResult<usize> {
        let ahead = symbols.get(..Keymap::fit(symbols)).unwrap_or_default();
        let piece = ahead.get(..ahead.len().min(PIECE_MAX).min(most)).unwrap_or_default();
        if piece.iter().any(|symbol| self.keymap.key(*symbol).is_none()) {
            self.use_keymap(Keymap::with(ahead))?;
        }
        for key in piece.iter().filter_map(|symbol| self.keymap.key(*symbol)) {
            self.stroke(key, &[]);
        }
        Ok(piece.len())
    }

    /// Presses and releases a chord.
    pub(crate) fn press(&mut self, chord: &KeyChord) -> DesktopResult<()> {
        let unknown = || DesktopError::Key {
            key: chord.to_string(),
            reason: "it names no key of the keyboard".to_owned(),
        };
        let symbol = Symbol::of_key(chord).ok_or_else(unknown)?;
        if self.keymap.key(symbol).is_none() {
            self.use_keymap(Keymap::with(&[symbol]))?;
        }
        let key = self.keymap.key(symbol).ok_or_else(unknown)?;
        self.stroke(key, &chord.modifiers);
        Ok(())
    }

    /// Lets go everything, and ends both.
    pub(crate) fn end(&self) {
        self.keyboard.modifiers(0, 0, 0, 0);
        self.keyboard.destroy();
        self.pointer.destroy();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_refused_by_name() {
        let error = symbols_of("a\u{7}").unwrap_err().to_string();
        assert!(error.contains("control character"), "{error}");
        let plain = |code: u32| Symbol::Plain(code, false);
        assert_eq!(symbols_of("a\r\nb").unwrap(), [plain(30), plain(28), plain(48)]);
    }
}
