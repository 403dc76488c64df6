//! Observation of the mouse and keyboard input of a person.

use std::time::Instant;

use deskhand_ui::geometry::{Point, Screen};

use crate::keys::{KeyChord, KeyModifier};

/// Something that a person did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonInput {
    /// A mouse button was pressed: 1 is the left one, 2 the middle one, 3 the right one.
    Pressed {
        /// The button.
        button: u32,
        /// Position of the pointer.
        at: Point<Screen>,
        /// The modifiers that were held.
        held: Vec<KeyModifier>,
    },
    /// A mouse button was released.
    Released {
        /// The button.
        button: u32,
        /// Position of the pointer.
        at: Point<Screen>,
    },
    /// A key was pressed, or repeated while it was held.
    Key {
        /// The key with the modifiers that were held. Shift is left out if it made the character.
        chord: KeyChord,
    },
    /// The key Pause was pressed.
    Pause,
}

/// The most inputs of a person that wait to be read: more than anybody makes while an application is busy. When so many wait, whoever
/// reports them waits too, because a demonstration with gaps would show something that nobody did.
pub const PERSON_INPUTS_WAITING_MAX: usize = 10_000;

/// Something that a person did, and when this process learnt of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedPersonInput {
    /// When.
    pub at: Instant,
    /// The observed input.
    pub input: PersonInput,
}
