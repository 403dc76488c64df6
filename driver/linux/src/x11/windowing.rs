//! Windows of an X server: listed, brought to the front, closed.

use std::{collections::HashSet, sync::PoisonError};

use deskhand_desktop::{DesktopError, DesktopResult};
use deskhand_ui::{WindowInfo, duration::milliseconds, ids::WindowId};
use tokio::{sync::broadcast::Receiver, time::Instant};
use x11rb::{
    connection::Connection,
    protocol::xproto::{
        ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, EventMask, InputFocus, StackMode,
    },
};

use super::{fault::WorkResult, windows::WindowList, worker::X11Worker};
use crate::{
    on::OnX11,
    screen::{ScreenEvent, window_ids::WindowIdRegistry},
    windowing::{FOCUS_BOUND, FRONT_BOUND},
};

/// The source of a request in EWMH: a tool that acts for the user.
const SOURCE_PAGER: u32 = 2;

impl OnX11<'_> {
    /// See [`deskhand_desktop::Windowing::windows`].
    pub(crate) async fn windows(&self) -> DesktopResult<Vec<WindowInfo>> {
        let list = self.display().call("list the windows", |worker| worker.list_windows()).await?;
        let infos = self.infos(&list);
        let unmarked = self.display().with_registry(WindowIdRegistry::take_unmarked);
        if !unmarked.is_empty() {
            // The ids are marked even if the caller is dropped here: they are not taken again. A caller that goes on finds them marked.
            self.display().post(move |worker| worker.mark_windows(&unmarked));
            self.display().call("mark windows", |_| Ok(())).await?;
        }
        Ok(infos)
    }

    /// See [`deskhand_desktop::Windowing::activate`].
    pub(crate) async fn activate(&self, window: WindowId) -> DesktopResult<()> {
        let mut deadline = Instant::now() + FOCUS_BOUND;
        let mut events = self.screen_events();
        let x_window = self.existing(window)?;
        let pop_up = self
            .display()
            .call("activate a window", move |worker| worker.ask_for_focus(x_window))
            .await
            .map_err(|error| self.unless_gone(window, error))?;
        if pop_up {
            // A pop-up has the input as long as it is open; no window manager focuses it.
            return Ok(());
        }
        // The current state may predate pending events: a window that has just opened may be about to take the focus.
        self.await_window_manager(&mut events, deadline).await?;
        loop {
            let list = self.display().call("list the windows", |worker| worker.list_windows()).await?;
            let has_focus = list.has_focus(x_window);
            if has_focus {
                if list.is_in_front(x_window) {
                    return Ok(());
                }
                deadline = deadline.min(Instant::now() + FRONT_BOUND);
            }
            self.existing(window)?;
            if !self.await_windows(&mut events, deadline).await? {
                if has_focus {
                    return Ok(());
                }
                let application = self
                    .infos(&list)
                    .into_iter()
                    .find(|info| info.id == window)
                    .map_or_else(|| window.to_string(), |info| info.app.name);
                return Err(DesktopError::NotAnswering {
                    operation: "give the focus to a window",
                    application,
                    limit_ms: milliseconds(FOCUS_BOUND),
                });
            }
        }
    }

    /// See [`deskhand_desktop::Windowing::close`].
    pub(crate) async fn close(&self, window: WindowId) -> DesktopResult<()> {
        let x_window = self.existing(window)?;
        self.display()
            .call("close a window", move |worker| worker.ask_to_close(x_window))
            .await
            .map_err(|error| self.unless_gone(window, error))
    }

    fn infos(&self, list: &WindowList) -> Vec<WindowInfo> {
        let accessible: HashSet<u32> =
            self.accessible_pids().read().unwrap_or_else(PoisonError::into_inner).clone();
        let entries = self.entries();
        self.display().with_registry(|registry| list.to_infos(registry, &entries, &accessible))
    }

    /// A request that the X server refused because the window is gone.
    fn unless_gone(&self, window: WindowId, error: DesktopError) -> DesktopError {
        let refused = matches!(
            &error,
            DesktopError::Failed { source, .. } if source.is::<x11rb::errors::ReplyOrIdError>()
        );
        if refused { DesktopError::NoWindow(window) } else { error }
    }

    /// Waits until the window manager has handled its requests and seen their effects, or the deadline. Its first
    /// answer comes after its own requests; what the server reports to it about them comes before the second round
    /// trip.
    async fn await_window_manager(
        &self,
        events: &mut Receiver<ScreenEvent>,
        deadline: Instant,
    ) -> DesktopResult<()> {
        for _ in 0..2 {
            let ask = |worker: &mut X11Worker| {
                let answers = worker.has_answering_window_manager()?;
                if answers {
                    worker.ask_window_manager()?;
                }
                Ok(answers)
            };
            if !self.display().call("ask the window manager", ask).await? {
                return Ok(());
            }
            let answered = |worker: &mut X11Worker| worker.window_manager_answered();
            while !self.display().call("wait for the window manager", answered).await? {
                if !self.await_windows(events, deadline).await? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

impl X11Worker {
    /// Requests the focus; `true` for a window that the window manager does not manage.
    fn ask_for_focus(&self, window: u32) -> WorkResult<bool> {
        if self.connection.get_window_attributes(window)?.reply()?.override_redirect {
            return Ok(true);
        }
        if self.has_window_manager()? {
            let active = self.active_window()?.unwrap_or(0);
            let data = [SOURCE_PAGER, x11rb::CURRENT_TIME, active, 0, 0];
            self.tell_window_manager(window, self.atoms._NET_ACTIVE_WINDOW, data)?;
        } else {
            let raise = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
            self.connection.configure_window(window, &raise)?;
            self.connection
                .set_input_focus(InputFocus::POINTER_ROOT, window, x11rb::CURRENT_TIME)?
                .check()?;
        }
        Ok(false)
    }

    fn ask_to_close(&self, window: u32) -> WorkResult<()> {
        let managed = !self.connection.get_window_attributes(window)?.reply()?.override_redirect;
        if managed && self.has_window_manager()? {
            let data = [x11rb::CURRENT_TIME, SOURCE_PAGER, 0, 0, 0];
            return self.tell_window_manager(window, self.atoms._NET_CLOSE_WINDOW, data);
        }
        if !self.has_protocol(window, self.atoms.WM_DELETE_WINDOW)? {
            let what = "it is a pop-up and cannot be asked to close; press Escape instead";
            return Err(DesktopError::failed("close a window", what).into());
        }
        let data = [self.atoms.WM_DELETE_WINDOW, x11rb::CURRENT_TIME, 0, 0, 0];
        let event = ClientMessageEvent::new(32, window, self.atoms.WM_PROTOCOLS, data);
        self.connection.send_event(false, window, EventMask::NO_EVENT, event)?;
        self.connection.flush()?;
        self.round_trip()
    }
}
