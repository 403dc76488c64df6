//! Real input events by XTEST.
//!
//! Each call is split into short pieces, so that no other caller waits long. Symbols that the keyboard lacks are
//! bound to keys as [`super::keyboard`] describes.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use deskhand_desktop::{Button, CancelScope, DesktopError, DesktopResult, PointerChord, keys::KeyChord};
use deskhand_ui::{
    duration::milliseconds,
    geometry::{Point, Screen},
};
use tokio::sync::broadcast::{self, error::RecvError};
use x11rb::{
    errors::ReplyError,
    protocol::{
        xproto::{
            BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ClientMessageEvent, ConnectionExt as _, EventMask,
            KEY_PRESS_EVENT, KEY_RELEASE_EVENT, MOTION_NOTIFY_EVENT, MapState,
        },
        xtest::ConnectionExt as _,
    },
};

use crate::{
    on::OnX11,
    screen::{ScreenEvent, dragging::Press, pace::TextChunkSize},
    x11::{
        fault::WorkResult,
        keyboard::{self, KeysymBindingPlan, LEVEL3, SHIFT, Stroke},
        keymap::no_key,
        worker::X11Worker,
    },
};

/// The most symbols that are sent in one piece.
pub(crate) const PIECE_MAX: usize = 100;
/// Number of notches of the wheel to send before waiting for the application.
const NOTCHES_PIECE: u32 = 5;
/// Maximum time for an application to handle them before more follow.
const NOTCHES_BOUND: Duration = Duration::from_millis(500);
/// Keys are bound for this many symbols ahead: each change of the keyboard map costs the application time.
const AHEAD_MAX: usize = 4_000;
/// Maximum time for an application to process the keys that were sent.
const CATCH_UP_BOUND: Duration = Duration::from_secs(10);
/// The most wheel notches of one scroll.
const NOTCHES_MAX: u32 = 200;

impl OnX11<'_> {
    /// See [`deskhand_desktop::Input::click`].
    pub(crate) async fn click(&self, at: Point<Screen>, held: PointerChord, count: u8) -> DesktopResult<()> {
        let PointerChord { button, modifiers } = held;
        let button = number_of(button);
        // The keys are those of what is typed.
        let _typing = if modifiers.is_empty() { None } else { Some(self.typing().lock().await) };
        CancelScope::current().wait(0, self.await_fresh_click(at)).await?;
        self.display()
            .input("click", 0, move |worker| {
                worker.check_on_screen(at)?;
                let keys = worker.keys_of(&modifiers)?;
                worker.move_to(at)?;
                worker.hold(&keys)?;
                for _ in 0..count {
                    worker.button(BUTTON_PRESS_EVENT, button)?;
                    worker.button(BUTTON_RELEASE_EVENT, button)?;
                }
                worker.release(&keys)?;
                worker.round_trip()
            })
            .await
    }

    /// See [`deskhand_desktop::Input::scroll`].
    pub(crate) async fn scroll(&self, at: Point<Screen>, right: i32, down: i32) -> DesktopResult<()> {
        let move_there = move |worker: &mut X11Worker| {
            worker.check_on_screen(at)?;
            worker.move_to(at)?;
            worker.round_trip()
        };
        self.display().input("scroll", 0, move_there).await?;
        let scope = CancelScope::current();
        let (mut done, mut answers) = (0, true);
        for (amount, back, forth) in [(down, 4, 5), (right, 6, 7)] {
            let button = if amount < 0 { back } else { forth };
            let mut left = amount.unsigned_abs().min(NOTCHES_MAX);
            while left > 0 {
                // What was sent cannot be taken back: the application has handled it before more follows.
                if done > 0 && answers {
                    answers = scope.wait(done, self.await_application(NOTCHES_BOUND)).await?;
                }
                let count = left.min(NOTCHES_PIECE);
                self.display().input("scroll", done, move |worker| worker.notches(button, count)).await?;
                (left, done) = (left - count, done + u64::from(count));
            }
        }
        Ok(())
    }

    /// See [`deskhand_desktop::Input::hover`].
    pub(crate) async fn hover(&self, at: Point<Screen>) -> DesktopResult<()> {
        self.display()
            .input("move the pointer", 0, move |worker| {
                worker.check_on_screen(at)?;
                worker.move_to(at)?;
                worker.round_trip()
            })
            .await
    }

    /// See [`deskhand_desktop::Input::press`]; the caller holds the lock of typing.
    pub(crate) async fn press(&self, chord: &KeyChord) -> DesktopResult<()> {
        self.display().call("look at the keyboard", X11Worker::prepare_keyboard).await?;
        self.send_chord(chord, 0).await
    }

    /// See [`deskhand_desktop::Input::enter`].
    pub(crate) async fn enter(&self, text: &str, then: &[KeyChord]) -> DesktopResult<()> {
        let symbols = symbols_of(text)?;
        let _typing = self.typing().lock().await;
        self.display().call("look at the keyboard", X11Worker::prepare_keyboard).await?;
        let scope = CancelScope::current();
        let (mut rest, mut sent, mut pace) = (symbols.as_slice(), 0, TextChunkSize::default());
        while !rest.is_empty() {
            let ahead: Vec<u32> = rest.iter().copied().take(AHEAD_MAX).collect();
            let most = pace.symbols();
            self.history().record_input();
            let begun = Instant::now();
            match self.display().input("type", sent, move |worker| worker.type_piece(&ahead, most)).await? {
                KeySendResult::Sent(count) => {
                    rest = rest.get(count..).unwrap_or_default();
                    sent += u64::try_from(count).unwrap_or(u64::MAX);
                    if !rest.is_empty() {
                        scope.wait(sent, self.catch_up()).await?;
                        pace.took(begun.elapsed());
                    }
                }
                KeySendResult::AwaitApplication => scope.wait(sent, self.catch_up()).await?,
            }
        }
        for chord in then {
            self.send_chord(chord, sent).await?;
            sent += 1;
        }
        // A caller that reads the text next must find all of it: wait until the last key has been processed.
        scope.wait(sent, self.await_application(CATCH_UP_BOUND)).await?;
        self.history().record_input();
        Ok(())
    }
}

/// The result of sending a piece.
pub(crate) enum KeySendResult {
    /// This many symbols were sent.
    Sent(usize),
    /// None was sent: a key must be rebound that the application may not have looked up yet.
    AwaitApplication,
}

impl OnX11<'_> {
    /// Presses and releases a chord, on a keyboard that was looked at; `done` is what was sent of the input before.
    async fn send_chord(&self, chord: &KeyChord, done: u64) -> DesktopResult<()> {
        let unknown = || DesktopError::Key {
            key: chord.to_string(),
            reason: "it names no key of the keyboard".to_owned(),
        };
        let keysym = keyboard::keysym_of_key(chord.key, &chord.modifiers).ok_or_else(unknown)?;
        loop {
            let chord = chord.clone();
            let work = move |worker: &mut X11Worker| worker.press_chord(&chord, keysym);
            self.history().record_input();
            match self.display().input("press keys", done, work).await? {
                KeySendResult::Sent(_) => {
                    self.history().record_input();
                    return Ok(());
                }
                KeySendResult::AwaitApplication => CancelScope::current().wait(done, self.catch_up()).await?,
            }
        }
    }

    /// Waits until the active application has processed the keys that were sent, and records that.
    async fn catch_up(&self) -> DesktopResult<()> {
        if !self.await_application(CATCH_UP_BOUND).await? {
            return Err(DesktopError::NotAnswering {
                operation: "type",
                application: "the application with the focus".to_owned(),
                limit_ms: milliseconds(CATCH_UP_BOUND),
            });
        }
        self.display()
            .call("type", |worker| {
                worker.keyboard.application_caught_up();
                Ok(())
            })
            .await
    }

    /// Waits until the application with the focus has processed every event so far: it answers a `_NET_WM_PING` in
    /// order. Applications without that protocol are not waited for. If the window closes in the meantime, as a
    /// dialog does, the one that has the focus then is asked. Returns `false` if none answered within `bound`.
    pub(crate) async fn await_application(&self, bound: Duration) -> DesktopResult<bool> {
        let asking = async {
            loop {
                let mut events = self.screen_events();
                let serial = self.next_ping();
                let mut pongs = self.display().pongs();
                let ping = move |worker: &mut X11Worker| worker.ping(serial);
                let Some(window) = self.display().call("ping the application", ping).await? else {
                    return Ok(());
                };
                tokio::select! {
                    biased;
                    // An error means that the display is gone; the next call reports it.
                    _ = pongs.wait_for(|pong| pong.wrapping_sub(serial) < u32::MAX / 2) => return Ok(()),
                    gone = self.window_gone(window, &mut events) => gone?,
                }
            }
        };
        match tokio::time::timeout(bound, asking).await {
            Ok(answered) => answered.map(|()| true),
            Err(_) => Ok(false),
        }
    }

    /// Waits until a window is no longer on the screen.
    async fn window_gone(
        &self,
        window: u32,
        events: &mut broadcast::Receiver<ScreenEvent>,
    ) -> DesktopResult<()> {
        loop {
            match events.recv().await {
                Ok(ScreenEvent::WindowsChanged) | Err(RecvError::Lagged(_)) => {}
                Ok(ScreenEvent::Damage { .. }) => continue,
                Ok(ScreenEvent::DisplayGone) | Err(RecvError::Closed) => return Ok(()),
            }
            if !self.display().call("look at a window", move |worker| worker.shows(window)).await? {
                return Ok(());
            }
        }
    }
}

/// The symbols of a text.
///
/// # Errors
/// [`DesktopError::Key`] for control characters other than line ends and tabs.
pub(crate) fn symbols_of(text: &str) -> DesktopResult<Vec<u32>> {
    text.replace("\r\n", "\n")
        .chars()
        .map(|character| {
            keyboard::keysym_of(character).ok_or_else(|| DesktopError::Key {
                key: character.escape_default().to_string(),
                reason: "it is a control character; press the key by its name instead".to_owned(),
            })
        })
        .collect()
}

pub(crate) const fn number_of(button: Button) -> u8 {
    match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
    }
}

impl X11Worker {
    pub(crate) fn check_on_screen(&self, point: Point<Screen>) -> WorkResult<()> {
        let root = self.connection.get_geometry(self.root)?.reply()?;
        let inside = |value: i32, side: u16| (0..i32::from(side)).contains(&value);
        if inside(point.x, root.width) && inside(point.y, root.height) {
            return Ok(());
        }
        let what = format!("{},{} lies outside the {}x{} screen", point.x, point.y, root.width, root.height);
        Err(DesktopError::failed("move the pointer", what).into())
    }

    fn fake(&self, kind: u8, detail: u8, x: i16, y: i16) -> WorkResult<()> {
        self.connection.xtest_fake_input(kind, detail, x11rb::CURRENT_TIME, self.root, x, y, 0)?;
        Ok(())
    }

    pub(crate) fn move_to(&self, point: Point<Screen>) -> WorkResult<()> {
        let coordinate = |value: i32| i16::try_from(value).unwrap_or(i16::MAX);
        self.pointer.set(point);
        self.fake(MOTION_NOTIFY_EVENT, 0, coordinate(point.x), coordinate(point.y))
    }

    pub(crate) fn button(&self, kind: u8, button: u8) -> WorkResult<()> {
        if kind == BUTTON_PRESS_EVENT {
            self.pressed.set(Some(Press { at: Instant::now(), place: self.pointer.get() }));
        }
        self.fake(kind, button, 0, 0)
    }

    pub(crate) fn key(&self, kind: u8, keycode: u8) -> WorkResult<()> {
        self.fake(kind, keycode, 0, 0)
    }

    /// Turns the wheel.
    fn notches(&self, button: u8, count: u32) -> WorkResult<()> {
        for _ in 0..count {
            self.button(BUTTON_PRESS_EVENT, button)?;
            self.button(BUTTON_RELEASE_EVENT, button)?;
        }
        self.round_trip()
    }

    /// Sends as many symbols, at most `most`, as can be bound at a time.
    pub(crate) fn type_piece(&mut self, symbols: &[u32], most: usize) -> WorkResult<KeySendResult> {
        let spare = self.keyboard.spare_keys();
        let mut without_key = HashSet::new();
        let fit = symbols
            .iter()
            .take_while(|symbol| {
                if self.keyboard.find_stroke(**symbol).is_none() || self.keyboard.is_bound(**symbol) {
                    without_key.insert(**symbol);
                }
                without_key.len() <= spare
            })
            .count();
        let ahead = symbols.get(..fit).unwrap_or_default();
        let piece = ahead.get(..fit.min(most)).unwrap_or_default();
        let lacks = piece.iter().any(|symbol| self.keyboard.find_stroke(*symbol).is_none());
        let plan = if lacks { self.bind(ahead)? } else { KeysymBindingPlan::Bind(Vec::new()) };
        match plan {
            KeysymBindingPlan::Bind(_) if !piece.is_empty() => {}
            KeysymBindingPlan::AwaitApplication => return Ok(KeySendResult::AwaitApplication),
            KeysymBindingPlan::Bind(_) | KeysymBindingPlan::NoKeys => {
                return Err(no_key(symbols.first().copied()).into());
            }
        }
        self.keyboard.used(piece);
        for symbol in piece {
            let stroke = self.keyboard.find_stroke(*symbol).ok_or_else(|| no_key(Some(*symbol)))?;
            self.stroke(stroke, &[])?;
        }
        self.round_trip()?;
        Ok(KeySendResult::Sent(piece.len()))
    }

    fn press_chord(&mut self, chord: &KeyChord, keysym: u32) -> WorkResult<KeySendResult> {
        match self.bind(&[keysym])? {
            KeysymBindingPlan::Bind(_) => {}
            KeysymBindingPlan::AwaitApplication => return Ok(KeySendResult::AwaitApplication),
            KeysymBindingPlan::NoKeys => return Err(no_key(Some(keysym)).into()),
        }
        let stroke = self.keyboard.find_stroke(keysym).ok_or_else(|| no_key(Some(keysym)))?;
        let modifiers: Vec<u32> =
            chord.modifiers.iter().map(|modifier| keyboard::keysym_of_modifier(*modifier)).collect();
        self.keyboard.used(&[keysym]);
        self.stroke(stroke, &modifiers)?;
        self.round_trip()?;
        Ok(KeySendResult::Sent(1))
    }

    /// Presses and releases one key together with the modifiers that it needs and the requested ones.
    fn stroke(&self, stroke: Stroke, wanted: &[u32]) -> WorkResult<()> {
        let mut modifiers = wanted.to_vec();
        for (needed, modifier) in [(stroke.shift, SHIFT), (stroke.level3, LEVEL3)] {
            if needed && !modifiers.contains(&modifier) {
                modifiers.push(modifier);
            }
        }
        let keys = self.modifier_keys(&modifiers)?;
        self.hold(&keys)?;
        self.key(KEY_PRESS_EVENT, stroke.keycode)?;
        self.key(KEY_RELEASE_EVENT, stroke.keycode)?;
        self.release(&keys)
    }

    /// Releases every key and button that is held, such as by an owner that died in the middle of a press.
    pub(crate) fn release_all(&self) -> WorkResult<()> {
        let keys = self.connection.query_keymap()?.reply()?.keys;
        for keycode in (0..=u8::MAX).filter(|code| {
            let byte = keys.get(usize::from(code / 8)).copied().unwrap_or(0);
            byte & (1 << (code % 8)) != 0
        }) {
            self.fake(KEY_RELEASE_EVENT, keycode, 0, 0)?;
        }
        let pressed = u16::from(self.connection.query_pointer(self.root)?.reply()?.mask);
        for button in (1..=5_u8).filter(|button| pressed & (1 << (7 + button)) != 0) {
            self.fake(BUTTON_RELEASE_EVENT, button, 0, 0)?;
        }
        self.round_trip()
    }

    /// Pings the active window and returns it; `None` if it does not support `_NET_WM_PING`.
    pub(crate) fn ping(&self, serial: u32) -> WorkResult<Option<u32>> {
        let Some(window) = self.active_window()? else { return Ok(None) };
        match self.has_protocol(window, self.atoms._NET_WM_PING) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            // The window was closed in the meantime.
            Err(fault) if fault.is_refusal() => return Ok(None),
            Err(fault) => return Err(fault),
        }
        let data = [self.atoms._NET_WM_PING, serial, window, 0, 0];
        let event = ClientMessageEvent::new(32, window, self.atoms.WM_PROTOCOLS, data);
        self.connection.send_event(false, window, EventMask::NO_EVENT, event)?;
        self.round_trip()?;
        Ok(Some(window))
    }

    /// Returns `true` if a window exists and is mapped together with all its ancestors.
    fn shows(&self, window: u32) -> WorkResult<bool> {
        match self.connection.get_window_attributes(window)?.reply() {
            Ok(attributes) => Ok(attributes.map_state == MapState::VIEWABLE),
            Err(ReplyError::X11Error(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_refused_by_name() {
        let error = symbols_of("a\u{7}").unwrap_err().to_string();
        assert!(error.contains("control character"), "{error}");
        assert_eq!(symbols_of("a\r\nb").unwrap(), [0x61, 0xff0d, 0x62]);
    }
}
