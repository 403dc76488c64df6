//! Dragging, with or without drag and drop.
//!
//! During drag and drop, the source and the target exchange several messages for each position of the pointer.
//! Releasing the button before they are done drops into nothing. Two events show the progress: the source takes the
//! selection `XdndSelection` when it starts, and the feedback (the dragged picture, the highlighted target) is drawn
//! and then stays still.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use deskhand_desktop::{CancelScope, DesktopError, DesktopResult, PointerChord};
use deskhand_ui::geometry::{Point, Screen};
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::{Instant, timeout, timeout_at},
};
use x11rb::protocol::xproto::{BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT};

use crate::{
    on::OnX11,
    screen::{
        ScreenEvent,
        dragging::{ASIDE, THRESHOLD_STEPS, path},
    },
    x11::{display::X11Display, fault::WorkResult, input::number_of, worker::X11Worker},
};

/// Maximum time for an application to answer during a drag.
const ANSWER_BOUND: Duration = Duration::from_secs(1);
/// Maximum time for an application that answers to start drag and drop. If it does not, the drag is a plain
/// one.
const BEGIN_BOUND: Duration = Duration::from_millis(400);
/// When nothing has been drawn for this long, the messages for a position have been exchanged.
const REST: Duration = Duration::from_millis(50);
/// The longest wait for that.
const REST_BOUND: Duration = Duration::from_millis(500);

impl OnX11<'_> {
    /// Presses the button at one place, moves, and releases it at the other once the applications are ready. If the call is cancelled
    /// meanwhile, or this is dropped, the pointer goes back first, so that what was dragged is where it was.
    pub(crate) async fn drag_along(
        &self,
        from: Point<Screen>,
        to: Point<Screen>,
        held: &PointerChord,
    ) -> DesktopResult<()> {
        let _typing = self.typing().lock().await;
        let scope = CancelScope::current();
        scope.wait(0, self.await_fresh_click(from)).await?;
        let mut begun = self.display().drags();
        let button = number_of(held.button);
        let modifiers = held.modifiers.clone();
        let look = self.display().call("look at the keyboard", move |worker| {
            worker.check_on_screen(from)?;
            worker.check_on_screen(to)?;
            worker.keys_of(&modifiers)
        });
        let keys = look.await?;
        let mut grip =
            X11PressGuard { display: self.display(), from, button, keys, is_pressed: Arc::default() };
        let (keys, is_pressed) = (grip.keys.clone(), Arc::clone(&grip.is_pressed));
        let press = self.display().input("drag", 0, move |worker| {
            worker.move_to(from)?;
            is_pressed.store(true, Ordering::Relaxed);
            worker.hold(&keys)?;
            worker.button(BUTTON_PRESS_EVENT, button)?;
            worker.round_trip()
        });
        press.await?;
        let moved = scope.wait(1, self.move_held(&path(from, to), to, &mut begun)).await;
        // Release everything, even if moving failed.
        grip.let_go(matches!(moved, Err(DesktopError::Cancelled { .. }))).await?;
        moved
    }

    /// Waits until a press at a place is no second click there.
    pub(crate) async fn await_fresh_click(&self, at: Point<Screen>) -> DesktopResult<()> {
        let pressed =
            self.display().call("look at the last click", |worker| Ok(worker.pressed.get())).await?;
        if let Some(pressed) = pressed {
            pressed.let_pass(at).await;
        }
        Ok(())
    }

    async fn move_held(
        &self,
        steps: &[Point<Screen>],
        to: Point<Screen>,
        begun: &mut tokio::sync::watch::Receiver<u32>,
    ) -> DesktopResult<()> {
        // Let the application handle the button press before the pointer moves.
        self.await_application(ANSWER_BOUND).await?;
        let (first, rest) = steps.split_at(steps.len().min(THRESHOLD_STEPS));
        self.follow(first).await?;
        self.await_application(ANSWER_BOUND).await?;
        let drops = timeout(BEGIN_BOUND, begun.changed()).await.is_ok();
        self.follow(rest).await?;
        for aside in ASIDE {
            let mut events = self.display().subscribe();
            self.follow(&[Point::new(to.x.saturating_add(aside), to.y)]).await?;
            self.await_application(ANSWER_BOUND).await?;
            if drops {
                await_rest(&mut events).await;
            }
        }
        Ok(())
    }

    /// Moves the pointer from point to point.
    async fn follow(&self, points: &[Point<Screen>]) -> DesktopResult<()> {
        let points = points.to_vec();
        let follow = self.display().call("drag", move |worker| {
            for point in points {
                worker.move_to(point)?;
                worker.round_trip()?;
            }
            Ok(())
        });
        follow.await
    }
}

/// A button and keys that are held. If this is dropped, they are let go where they were pressed.
struct X11PressGuard<'a> {
    display: &'a X11Display,
    from: Point<Screen>,
    button: u8,
    keys: Vec<u8>,
    is_pressed: Arc<AtomicBool>,
}

impl X11PressGuard<'_> {
    /// Lets go, where the pointer is or `back` where it was pressed.
    async fn let_go(&mut self, back: bool) -> DesktopResult<()> {
        let release = self.release(back);
        self.display.call("drag", release).await
    }

    fn release(&self, back: bool) -> impl FnOnce(&mut X11Worker) -> WorkResult<()> + Send + 'static {
        let (from, button, keys) = (self.from, self.button, self.keys.clone());
        let is_pressed = Arc::clone(&self.is_pressed);
        move |worker| {
            if !is_pressed.swap(false, Ordering::Relaxed) {
                return Ok(());
            }
            if back {
                worker.move_to(from)?;
            }
            worker.button(BUTTON_RELEASE_EVENT, button)?;
            worker.release(&keys)?;
            worker.round_trip()
        }
    }
}

impl Drop for X11PressGuard<'_> {
    fn drop(&mut self) {
        self.display.post(self.release(true));
    }
}

/// Waits until nothing has been drawn for a while, except for self-repeating drawing.
async fn await_rest(events: &mut broadcast::Receiver<ScreenEvent>) {
    let bound = Instant::now() + REST_BOUND;
    let mut rest = Instant::now() + REST;
    while let Ok(event) = timeout_at(rest.min(bound), events.recv()).await {
        match event {
            Ok(ScreenEvent::Damage { by_itself: true, .. }) => {}
            Ok(ScreenEvent::Damage { .. } | ScreenEvent::WindowsChanged) | Err(RecvError::Lagged(_)) => {
                rest = Instant::now() + REST;
            }
            // The next call reports the error.
            Ok(ScreenEvent::DisplayGone) | Err(RecvError::Closed) => return,
        }
    }
}
