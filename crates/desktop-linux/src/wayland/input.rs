//! Input on Wayland, and the wait until an application has handled it.
//!
//! No message of Wayland goes to an application and back. But an application whose main thread sleeps has handled everything that the
//! compositor had sent it by then, and the kernel tells that.

use std::{
    sync::PoisonError,
    time::{Duration, Instant},
};

use deskhand_core::{
    geometry::{Point, Screen},
    ui::WindowKind,
};
use deskhand_desktop::{DesktopResult, Held, keys::KeyChord};
use deskhand_desktop_wayland::{Pointing, symbols_of};

use crate::{
    blocking::run_blocking,
    kernel::work_of,
    screen::dragging::{ASIDE, Press, THRESHOLD_STEPS, path},
    server::OnWayland,
};

/// How many symbols are looked at ahead, so that the keymap changes seldom.
const AHEAD_MAX: usize = 4_000;
/// An application that works for longer is not waited for any longer: it may be an animation.
const REST_BOUND: Duration = Duration::from_millis(500);
/// A button that is released sooner after the press that opened a menu does not choose from it. GTK 3 has this time built in.
const MENU_OPENS: Duration = Duration::from_millis(520);
/// Two looks this far apart find the same run times if a thread is at rest.
const APART: Duration = Duration::from_millis(2);

impl OnWayland<'_> {
    /// See [`deskhand_desktop::Input::click`].
    pub(crate) async fn click(&self, at: Point<Screen>, held: Held, count: u8) -> DesktopResult<()> {
        self.await_fresh_click(at).await;
        // First the pointer, until it is drawn: what is drawn then is what the click brings, such as a pop-up.
        self.compositor().display.follow(vec![at]).await?;
        self.server().catch_up().await?;
        self.let_menu_open().await?;
        self.note_input();
        self.note_press(at);
        self.compositor().display.click(at, held.button, held.modifiers, count).await
    }

    /// Waits until a press at a place is no second click there.
    async fn await_fresh_click(&self, place: Point<Screen>) {
        let pressed = *self.compositor().pressed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pressed) = pressed {
            pressed.let_pass(place).await;
        }
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

    /// Presses and releases a chord.
    pub(crate) async fn send_chord(&self, chord: &KeyChord) -> DesktopResult<()> {
        self.note_input();
        self.history().record_input();
        let sent = self.compositor().display.press(chord.clone()).await;
        self.history().record_input();
        sent
    }

    /// See [`deskhand_desktop::Input::enter`].
    pub(crate) async fn enter(&self, text: &str, then: &[KeyChord]) -> DesktopResult<()> {
        let symbols = symbols_of(text)?;
        let _typing = self.typing().lock().await;
        self.note_input();
        let mut rest = symbols.as_slice();
        while !rest.is_empty() {
            let ahead = rest.iter().copied().take(AHEAD_MAX).collect();
            self.history().record_input();
            let count = self.compositor().display.type_piece(ahead).await?;
            rest = rest.get(count.max(1)..).unwrap_or_default();
            if !rest.is_empty() {
                // A compositor ends the connection of an application that leaves too much unread.
                self.await_application(REST_BOUND).await?;
            }
        }
        for chord in then {
            self.send_chord(chord).await?;
        }
        // A caller that reads the text next must find all of it.
        self.await_application(REST_BOUND).await?;
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

    /// Presses the button at one place, moves, and releases it at the other once the application has handled the way.
    pub(crate) async fn drag_along(
        &self,
        from: Point<Screen>,
        to: Point<Screen>,
        held: &Held,
    ) -> DesktopResult<()> {
        let _typing = self.typing().lock().await;
        self.await_fresh_click(from).await;
        let display = &self.compositor().display;
        self.note_input();
        // Both are checked before anything is pressed.
        display.follow(vec![to, from]).await?;
        self.note_press(from);
        display.hold(held.button, held.modifiers.clone(), Pointing::Press).await?;
        let moved = self.move_held(&path(from, to), to).await;
        // Release everything, even if moving failed.
        display.hold(held.button, held.modifiers.clone(), Pointing::Release).await?;
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
