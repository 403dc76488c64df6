//! Real input events.

use deskhand_ui::geometry::{Point, Screen};

use crate::{
    DesktopResult,
    keys::{KeyChord, KeyModifier},
};

pub use deskhand_ui::action::Button;

/// The button and keys held down during a click or a drag.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointerChord {
    /// The button.
    pub button: Button,
    /// The keys that say what is meant: Ctrl for one more item, Shift for all up to it, Ctrl for a copy of what is dragged.
    pub modifiers: Vec<KeyModifier>,
}

/// The button alone.
impl From<Button> for PointerChord {
    fn from(button: Button) -> Self {
        Self { button, modifiers: Vec::new() }
    }
}

/// Real input events, as from a person's mouse and keyboard (XTEST).
pub trait InputInjection {
    /// Moves the pointer, presses the modifiers and then a button `count` times (1 to 3), and lets go of the modifiers. Where a click
    /// came a moment ago, this waits until it is none more of the same.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn click(
        &self,
        at: Point<Screen>,
        held: impl Into<PointerChord> + Send,
        count: u8,
    ) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Presses modifiers and a button at `from`, moves to `to` in small steps and lets go there, of the button first.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn drag(
        &self,
        from: Point<Screen>,
        to: Point<Screen>,
        held: &PointerChord,
    ) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Turns the wheel by `down` notches (negative: up) and `right` notches (negative: left).
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn scroll(
        &self,
        at: Point<Screen>,
        right: i32,
        down: i32,
    ) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Moves the pointer, and leaves it there.
    ///
    /// # Errors
    /// [`crate::DesktopError::Gone`] when the display does not answer.
    fn hover(&self, at: Point<Screen>) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Presses and releases a chord such as `ctrl+shift+s`.
    ///
    /// # Errors
    /// [`crate::DesktopError::Key`] when the keyboard has no such key.
    fn press(&self, chord: &KeyChord) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Types any Unicode text; `\n` is Return, `\t` is Tab.
    ///
    /// # Errors
    /// [`crate::DesktopError::Key`] for a character that cannot be typed.
    fn type_text(&self, text: &str) -> impl Future<Output = DesktopResult<()>> + Send;

    /// Types a text and presses `then` right after it, all at once: the application handles them together, and is waited for
    /// once. For keys that only complete the text, such as the one that takes it over.
    ///
    /// # Errors
    /// [`crate::DesktopError::Key`] for a character or key that cannot be typed.
    fn enter(&self, text: &str, then: &[KeyChord]) -> impl Future<Output = DesktopResult<()>> + Send;
}
