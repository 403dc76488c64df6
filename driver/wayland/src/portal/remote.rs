//! A person's pointer and keys, by the portal `RemoteDesktop`.

use deskhand_desktop::{
    Button, DesktopError, DesktopResult,
    keys::{KeyChord, KeyModifier},
};
use deskhand_ui::geometry::{Point, Rect, Screen};
use tokio::runtime::Handle;

use super::Portal;
use crate::{
    input::{NOTCHES_MAX, PressTransition, button_code},
    keyboard::{Symbol, modifier_keysym},
};

/// The most symbols that are sent in one piece.
const PIECE_MAX: usize = 20;
/// The axes of a wheel.
const VERTICAL: u32 = 0;
const HORIZONTAL: u32 = 1;

/// Pointer and keys of a session. For a thread that may block.
pub(crate) struct Remote {
    portal: Portal,
    runtime: Handle,
    /// The node and the area of each shared monitor.
    monitors: Vec<(u32, Rect<Screen>)>,
}

impl Remote {
    pub(crate) const fn new(portal: Portal, runtime: Handle, monitors: Vec<(u32, Rect<Screen>)>) -> Self {
        Self { portal, runtime, monitors }
    }

    /// Moves the pointer.
    pub(crate) fn move_to(&self, to: Point<Screen>) -> DesktopResult<()> {
        let Some((node, area)) = self.monitors.iter().find(|(_, area)| area.contains(&to)).copied() else {
            let areas: Vec<String> = self
                .monitors
                .iter()
                .map(|(_, Rect { x, y, width, height, .. })| format!("{width}x{height} at {x},{y}"))
                .collect();
            let what = format!("{},{} lies outside the shared screen ({})", to.x, to.y, areas.join("; "));
            return Err(DesktopError::failed("move the pointer", what));
        };
        let (x, y) = (f64::from(to.x - area.x), f64::from(to.y - area.y));
        self.runtime.block_on(
            self.portal
                .notify("NotifyPointerMotionAbsolute", |session, options| (session, options, node, x, y)),
        )
    }

    /// Presses or releases a button.
    pub(crate) fn button(&self, button: Button, what: PressTransition) -> DesktopResult<()> {
        let code = i32::try_from(button_code(button)).unwrap_or(0);
        let body = |session, options| (session, options, code, state(what));
        self.runtime.block_on(self.portal.notify("NotifyPointerButton", body))
    }

    /// Turns the wheel by notches, down and to the right.
    pub(crate) fn scroll(&self, right: i32, down: i32) -> DesktopResult<()> {
        for (axis, notches) in [(VERTICAL, down), (HORIZONTAL, right)] {
            let way = notches.signum();
            for _ in 0..notches.unsigned_abs().min(NOTCHES_MAX) {
                let body = |session, options| (session, options, axis, way);
                self.runtime.block_on(self.portal.notify("NotifyPointerAxisDiscrete", body))?;
            }
        }
        Ok(())
    }

    fn key(&self, keysym: u32, what: PressTransition) -> DesktopResult<()> {
        let keysym = i32::try_from(keysym).unwrap_or(0);
        let body = |session, options| (session, options, keysym, state(what));
        self.runtime.block_on(self.portal.notify("NotifyKeyboardKeysym", body))
    }

    /// Holds or lets go modifiers.
    pub(crate) fn modifiers(&self, modifiers: &[KeyModifier], what: PressTransition) -> DesktopResult<()> {
        let change = |one: &KeyModifier| self.key(modifier_keysym(*one), what);
        match what {
            PressTransition::Press => modifiers.iter().try_for_each(change),
            PressTransition::Release => modifiers.iter().rev().try_for_each(change),
        }
    }

    /// Presses and releases one key with modifiers.
    fn stroke(&self, symbol: Symbol, modifiers: &[KeyModifier]) -> DesktopResult<()> {
        let keysym = keysym_of(symbol)?;
        self.modifiers(modifiers, PressTransition::Press)?;
        let pressed = self
            .key(keysym, PressTransition::Press)
            .and_then(|()| self.key(keysym, PressTransition::Release));
        // Let go everything, even if pressing failed.
        self.modifiers(modifiers, PressTransition::Release)?;
        pressed
    }

    /// Types as many symbols as fit into one piece, at most `most`; returns how many. A piece with a symbol that cannot be typed is refused as a whole.
    pub(crate) fn type_piece(&self, symbols: &[Symbol], most: usize) -> DesktopResult<usize> {
        symbols.iter().try_for_each(|symbol| keysym_of(*symbol).map(drop))?;
        let piece = symbols.get(..symbols.len().min(PIECE_MAX).min(most)).unwrap_or_default();
        piece.iter().try_for_each(|symbol| self.stroke(*symbol, &[]))?;
        Ok(piece.len())
    }

    /// Presses and releases a chord.
    pub(crate) fn press(&self, chord: &KeyChord) -> DesktopResult<()> {
        let symbol = Symbol::of_key(chord).ok_or_else(|| DesktopError::Key {
            key: chord.to_string(),
            reason: "it names no key of the keyboard".to_owned(),
        })?;
        self.stroke(symbol, &chord.modifiers)
    }

    /// Presses a key that does nothing alone. Where no keyboard is attached, GNOME announces one with the first key, which nobody gets.
    pub(crate) fn announce(&self) -> DesktopResult<()> {
        self.modifiers(&[KeyModifier::Shift], PressTransition::Press)?;
        self.modifiers(&[KeyModifier::Shift], PressTransition::Release)?;
        self.pass();
        Ok(())
    }

    /// Waits until the compositor has got what was sent.
    pub(crate) fn pass(&self) {
        self.runtime.block_on(self.portal.pass());
    }

    /// Ends the session.
    pub(crate) fn end(&self) {
        self.runtime.block_on(self.portal.close());
    }
}

/// The keysym of a symbol that every keyboard has. Of others it is not known whether the layout of the person has a key for them: GNOME drops
/// those that it lacks without a word.
fn keysym_of(symbol: Symbol) -> DesktopResult<u32> {
    let has_key = |keysym: &u32| *keysym < 0x80 || (0xff00..=0xffff).contains(keysym);
    symbol.keysym().filter(has_key).ok_or_else(|| DesktopError::Key {
        key: symbol.to_string(),
        reason: "the portal of this desktop presses only keys that every keyboard has; \
                 set the text of the element instead, or use `--desktop virtual`"
            .to_owned(),
    })
}

const fn state(what: PressTransition) -> u32 {
    match what {
        PressTransition::Press => 1,
        PressTransition::Release => 0,
    }
}
