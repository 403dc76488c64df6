//! Pointer and keys, by the protocols of wlroots or by a portal.

use deskhand_desktop::{
    Button, DesktopResult,
    keys::{KeyChord, KeyModifier},
};
use deskhand_ui::geometry::{Point, Screen};

use crate::{
    client::WaylandClient,
    input::{PressTransition, VirtualHands},
    keyboard::Symbol,
    portal::Remote,
};

/// The devices that press keys and buttons.
pub(crate) enum WaylandInputDriver {
    /// Devices of our own.
    Virtual(VirtualHands),
    /// The portal.
    Remote(Remote),
}

impl WaylandInputDriver {
    /// Moves the pointer.
    pub(crate) fn move_to(&self, client: &WaylandClient, to: Point<Screen>) -> DesktopResult<()> {
        match self {
            Self::Virtual(hands) => hands.move_to(client, to),
            Self::Remote(remote) => remote.move_to(to),
        }
    }

    /// Presses or releases a button.
    pub(crate) fn button(&self, button: Button, what: PressTransition) -> DesktopResult<()> {
        match self {
            Self::Virtual(hands) => hands.button(button, what),
            Self::Remote(remote) => return remote.button(button, what),
        }
        Ok(())
    }

    /// Turns the wheel by notches, down and to the right.
    pub(crate) fn scroll(&self, right: i32, down: i32) -> DesktopResult<()> {
        match self {
            Self::Virtual(hands) => hands.scroll(right, down),
            Self::Remote(remote) => return remote.scroll(right, down),
        }
        Ok(())
    }

    /// Holds or lets go modifiers.
    pub(crate) fn modifiers(&self, modifiers: &[KeyModifier], what: PressTransition) -> DesktopResult<()> {
        match self {
            Self::Virtual(hands) => hands.modifiers(modifiers, what),
            Self::Remote(remote) => return remote.modifiers(modifiers, what),
        }
        Ok(())
    }

    /// Types as many symbols as fit into one piece, at most `most`; returns how many.
    pub(crate) fn type_piece(&mut self, symbols: &[Symbol], most: usize) -> DesktopResult<usize> {
        match self {
            Self::Virtual(hands) => hands.type_piece(symbols, most),
            Self::Remote(remote) => remote.type_piece(symbols, most),
        }
    }

    /// Presses and releases a chord.
    pub(crate) fn press(&mut self, chord: &KeyChord) -> DesktopResult<()> {
        match self {
            Self::Virtual(hands) => hands.press(chord),
            Self::Remote(remote) => remote.press(chord),
        }
    }

    /// Waits until the compositor has got what was sent.
    pub(crate) fn pass(&self, client: &mut WaylandClient) -> DesktopResult<()> {
        if let Self::Remote(remote) = self {
            remote.pass();
        }
        client.round_trip()?;
        // It answers before it writes to others; the second time, that is done.
        client.round_trip()
    }

    /// Lets go everything, and ends.
    pub(crate) fn end(&self) {
        match self {
            Self::Virtual(hands) => hands.end(),
            Self::Remote(remote) => remote.end(),
        }
    }
}
