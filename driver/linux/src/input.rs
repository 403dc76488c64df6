//! A person's pointer and keys behind the [`InputInjection`] trait. Each input is recorded, so that changes can be told from those that come by
//! themselves.

use std::time::Duration;

use deskhand_desktop::{DesktopResult, InputInjection, PointerChord, keys::KeyChord};
use deskhand_ui::geometry::{Point, Screen};

use crate::{desktop::LinuxDesktop, on::On};

impl LinuxDesktop {
    /// Sends an input, and records that before and after.
    async fn recorded(&self, send: impl Future<Output = DesktopResult<()>> + Send) -> DesktopResult<()> {
        self.history().record_input();
        let sent = send.await;
        self.history().record_input();
        sent
    }

    /// Waits until the application with the focus has handled every input so far; `false` if it does not say so within `bound`.
    pub(crate) async fn await_application(&self, bound: Duration) -> DesktopResult<bool> {
        match self.on() {
            On::X11(x11) => x11.await_application(bound).await,
            On::Wayland(wayland) => wayland.await_application(bound).await,
        }
    }
}

impl InputInjection for LinuxDesktop {
    async fn click(
        &self,
        at: Point<Screen>,
        held: impl Into<PointerChord> + Send,
        count: u8,
    ) -> DesktopResult<()> {
        let (held, count) = (held.into(), count.clamp(1, 3));
        match self.on() {
            On::X11(x11) => self.recorded(x11.click(at, held, count)).await,
            On::Wayland(wayland) => self.recorded(wayland.click(at, held, count)).await,
        }
    }

    async fn drag(&self, from: Point<Screen>, to: Point<Screen>, held: &PointerChord) -> DesktopResult<()> {
        match self.on() {
            On::X11(x11) => self.recorded(x11.drag_along(from, to, held)).await,
            On::Wayland(wayland) => self.recorded(wayland.drag_along(from, to, held)).await,
        }
    }

    async fn scroll(&self, at: Point<Screen>, right: i32, down: i32) -> DesktopResult<()> {
        match self.on() {
            On::X11(x11) => self.recorded(x11.scroll(at, right, down)).await,
            On::Wayland(wayland) => self.recorded(wayland.scroll(at, right, down)).await,
        }
    }

    async fn hover(&self, at: Point<Screen>) -> DesktopResult<()> {
        match self.on() {
            On::X11(x11) => self.recorded(x11.hover(at)).await,
            On::Wayland(wayland) => self.recorded(wayland.compositor().display.follow(vec![at])).await,
        }
    }

    async fn press(&self, chord: &KeyChord) -> DesktopResult<()> {
        let _typing = self.typing().lock().await;
        match self.on() {
            On::X11(x11) => x11.press(chord).await,
            On::Wayland(wayland) => wayland.send_chord(chord, 0).await,
        }
    }

    async fn type_text(&self, text: &str) -> DesktopResult<()> {
        self.enter(text, &[]).await
    }

    async fn enter(&self, text: &str, then: &[KeyChord]) -> DesktopResult<()> {
        match self.on() {
            On::X11(x11) => x11.enter(text, then).await,
            On::Wayland(wayland) => wayland.enter(text, then).await,
        }
    }
}
