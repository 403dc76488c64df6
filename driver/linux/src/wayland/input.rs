//! Input on Wayland, and the wait until an application has handled it.
//!
//! No message of Wayland goes to an application and back. But an application whose main thread sleeps has handled everything that the
//! compositor had sent it by then, and the kernel tells that.

use std::{
    sync::{Arc, PoisonError, atomic::AtomicBool},
    time::{Duration, Instant},
};

use deskhand_desktop::{CancelScope, DesktopError, DesktopResult, PointerChord, keys::KeyChord};
use deskhand_desktop_wayland::{HeldButton, WaylandDisplay, symbols_of};
use deskhand_ui::{
    WindowKind,
    geometry::{Point, Screen},
};

use crate::{
    blocking::run_blocking,
    kernel::work_of,
    on::OnWayland,
    screen::{
        dragging::{ASIDE, Press, THRESHOLD_STEPS, path},
        pace::TextChunkSize,
    },
};

/// Number of symbols to look ahead, so that the keymap changes seldom.
const AHEAD_MAX: usize = 4_000;
/// An application that works for longer is not waited for any longer: it may be an animation.
const REST_BOUND: Duration = Duration::from_millis(500);
/// A button that is released sooner after the press that opened a menu does not choose from it. GTK 3 has this time built in.
const MENU_OPENS: Duration = Duration::from_millis(520);
/// Two looks this far apart find the same run times if a thread is at rest.
const APART: Duration = Duration::from_millis(2);
/// Number of notches of the wheel to send before waiting for the application.
const NOTCHES_PIECE: i32 = 5;
/// The most wheel notches of one scroll.
const NOTCHES_MAX: i32 = 200;

impl OnWayland<'_> {
    /// See [`deskhand_desktop::Input::click`].
    pub(crate) async fn click(&self, at: Point<Screen>, held: PointerChord, count: u8) -> DesktopResult<()> {
        let scope = CancelScope::current();
        scope.wait(0, self.await_fresh_click(at)).await?;
        // First the pointer, until it is drawn: what is drawn then is what the click brings, such as a pop-up.
        self.compositor().display.follow(vec![at]).await?;
        self.server().catch_up().await?;
        scope.wait(0, self.let_menu_open()).await?;
        self.note_input();
        self.note_press(at);
        self.compositor().display.click(at, held.button, held.modifiers, count).await
    }

    /// Waits until a press at a place is no second click there.
    async fn await_fresh_click(&self, place: Point<Screen>) -> DesktopResult<()> {
        let pressed = *self.compositor().pressed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pressed) = pressed {
            pressed.let_pass(place).await;
        }
        Ok(())
    }

    /// See [`deskhand_desktop::Input::scroll`].
    pub(crate) async fn scroll(&self, at: Point<Screen>, right: i32, down: i32) -> DesktopResult<()> {
        let (scope, display) = (CancelScope::current(), &self.compositor().display);
        let mut done = 0;
        for (amount, is_down) in [(down, true), (right, false)] {
            let mut left = amount.clamp(-NOTCHES_MAX, NOTCHES_MAX);
            while left != 0 {
                // What was sent cannot be taken back: the application has handled it before more follows.
                if done > 0 {
                    scope.wait(done, self.await_application(REST_BOUND)).await?;
                }
                let part = left.clamp(-NOTCHES_PIECE, NOTCHES_PIECE);
                let (right, down) = if is_down { (0, part) } else { (part, 0) };
                display.scroll(at, right, down, done).await?;
                (left, done) = (left - part, done + u64::from(part.unsigned_abs()));
            }
        }
        Ok(())
    }

    /// Waits while a click would be taken for the end of the one that has just opened a menu: GTK 3 ignores it then.
    async fn let_menu_open(&self) -> DesktopResult<()> {
        let pressed = *self.compositor().pressed.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(until) =
            pressed.map(|pressed| pressed.at + MENU_OPENS).filter(|until| *until > Instant::now())
        else {
            return Ok(());
        };
        if self.windows().await?.iter().any(|info| info.kind == WindowKind::Popup) {
            tokio::time::sleep_until(until.into()).await;
        }
        Ok(())
    }

    fn note_input(&self) {
        *self.compositor().acted.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn note_press(&self, at: Point<Screen>) {
        let mut pressed = self.compositor().pressed.lock().unwrap_or_else(PoisonError::into_inner);
        *pressed = Some(Press { at: Instant::now(), place: at });
    }

    /// Presses and releases a chord; `done` is what was sent of the input before.
    pub(crate) async fn send_chord(&self, chord: &KeyChord, done: u64) -> DesktopResult<()> {
        self.note_input();
        self.history().record_input();
        let sent = self.compositor().display.press(chord.clone(), done).await;
        self.history().record_input();
        sent
    }

    /// See [`deskhand_desktop::Input::enter`].
    pub(crate) async fn enter(&self, text: &str, then: &[KeyChord]) -> DesktopResult<()> {
        let symbols = symbols_of(text)?;
        let _typing = self.typing().lock().await;
        self.note_input();
        let scope = CancelScope::current();
        let (mut rest, mut sent, mut pace) = (symbols.as_slice(), 0, TextChunkSize::default());
        while !rest.is_empty() {
            let ahead = rest.iter().copied().take(AHEAD_MAX).collect();
            self.history().record_input();
            let begun = Instant::now();
            let count = self.compositor().display.type_piece(ahead, pace.symbols(), sent).await?;
            rest = rest.get(count.max(1)..).unwrap_or_default();
            sent += u64::try_from(count).unwrap_or(u64::MAX);
            if !rest.is_empty() {
                // A compositor ends the connection of an application that leaves too much unread.
                scope.wait(sent, self.await_application(REST_BOUND)).await?;
                pace.took(begun.elapsed());
            }
        }
        for chord in then {
            self.send_chord(chord, sent).await?;
            sent += 1;
        }
        // A caller that reads the text next must find all of it.
        scope.wait(sent, self.await_application(REST_BOUND)).await?;
        self.history().record_input();
        Ok(())
    }

    /// Waits until the application with the focus sleeps, at most `bound`. One that does not is not waited for any longer.
    pub(crate) async fn await_application(&self, bound: Duration) -> DesktopResult<bool> {
        let windows = self.compositor().display.windows().await?;
        let focused = windows.into_iter().find(|window| window.focused);
        if let Some(pid) = focused.and_then(|window| window.pid) {
            let until = Instant::now() + bound.min(REST_BOUND);
            let look = move || run_blocking(move || work_of(pid));
            let mut before = look().await?;
            while before.is_some() && Instant::now() < until {
                // There is no event for it.
                tokio::time::sleep(APART).await;
                let now = look().await?;
                if now == before && now.as_ref().is_some_and(|work| !work.runs) {
                    break;
                }
                before = now;
            }
        }
        Ok(true)
    }

    /// Presses the button at one place, moves, and releases it at the other once the application has handled the way. If the call is
    /// cancelled meanwhile, or this is dropped, the pointer goes back first, so that what was dragged is where it was.
    pub(crate) async fn drag_along(
        &self,
        from: Point<Screen>,
        to: Point<Screen>,
        held: &PointerChord,
    ) -> DesktopResult<()> {
        let _typing = self.typing().lock().await;
        let scope = CancelScope::current();
        scope.wait(0, self.await_fresh_click(from)).await?;
        let display = &self.compositor().display;
        self.note_input();
        // Both are checked before anything is pressed.
        display.follow(vec![to, from]).await?;
        self.note_press(from);
        let held = HeldButton { at: from, button: held.button, modifiers: held.modifiers.clone() };
        let grip = WaylandPressGuard { display, held, is_held: Arc::default() };
        display.hold(&grip.held, Arc::clone(&grip.is_held)).await?;
        let moved = scope.wait(1, self.move_held(&path(from, to), to)).await;
        // Release everything, even if moving failed.
        let back = matches!(moved, Err(DesktopError::Cancelled { .. }));
        display.let_go(&grip.held, Arc::clone(&grip.is_held), back).await?;
        moved
    }

    async fn move_held(&self, steps: &[Point<Screen>], to: Point<Screen>) -> DesktopResult<()> {
        let display = &self.compositor().display;
        self.await_application(REST_BOUND).await?;
        let (first, rest) = steps.split_at(steps.len().min(THRESHOLD_STEPS));
        for part in [first, rest] {
            display.follow(part.to_vec()).await?;
            self.await_application(REST_BOUND).await?;
        }
        for aside in ASIDE {
            display.follow(vec![Point::new(to.x.saturating_add(aside), to.y)]).await?;
            self.await_application(REST_BOUND).await?;
        }
        Ok(())
    }
}

/// A button and keys that are held. If this is dropped, they are let go where they were pressed.
struct WaylandPressGuard<'a> {
    display: &'a WaylandDisplay,
    held: HeldButton,
    is_held: Arc<AtomicBool>,
}

impl Drop for WaylandPressGuard<'_> {
    fn drop(&mut self) {
        // It is done without being waited for.
        drop(self.display.let_go(&self.held, Arc::clone(&self.is_held), /*back*/ true));
    }
}
