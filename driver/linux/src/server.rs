//! The display server of a desktop, which shows its windows and takes its input: an X server or a Wayland
//! compositor.

use std::{sync::PoisonError, time::Instant};

use deskhand_desktop::{DesktopError, DesktopResult, Picture};
use deskhand_ui::geometry::{Point, Rect, Screen, Size};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::{
    atspi::CoordinateOrigin,
    screen::{ScreenEvent, window_ids::WindowIdRegistry},
    wayland::Compositor,
    x11::{display::X11Display, worker::X11Worker},
};

/// The server of a desktop.
pub(crate) enum DisplayServer {
    /// An X server.
    X11(X11Display),
    /// A Wayland compositor.
    Wayland(Box<Compositor>),
}

impl DisplayServer {
    /// A receiver of what happens on the screen from now on.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<ScreenEvent> {
        match self {
            Self::X11(display) => display.subscribe(),
            Self::Wayland(compositor) => compositor.events.subscribe(),
        }
    }

    /// Waits until everything that was drawn before this call has been told.
    ///
    /// # Errors
    /// [`DesktopError::Gone`] when the server has ended.
    pub(crate) async fn catch_up(&self) -> DesktopResult<()> {
        match self {
            Self::X11(display) => display.catch_up().await,
            Self::Wayland(compositor) => compositor.display.catch_up().await,
        }
    }

    /// Takes the areas drawn since the last call; `None` if unknown.
    pub(crate) fn take_drawn(&self) -> Option<Vec<(Option<u32>, Rect<Screen>)>> {
        match self {
            Self::X11(display) => display.take_drawn(),
            Self::Wayland(compositor) => {
                compositor.drawn.lock().unwrap_or_else(PoisonError::into_inner).take()
            }
        }
    }

    /// When anything was last drawn at a point of the screen; `None` if that is long ago.
    pub(crate) fn drawn_at(&self, point: Point<Screen>) -> Option<Instant> {
        match self {
            Self::X11(display) => display.drawn_at(point),
            Self::Wayland(compositor) => {
                compositor.drawn.lock().unwrap_or_else(PoisonError::into_inner).drawn_at(point)
            }
        }
    }

    /// Runs `look` on the window ids.
    pub(crate) fn with_registry<T>(&self, look: impl FnOnce(&mut WindowIdRegistry) -> T) -> T {
        match self {
            Self::X11(display) => display.with_registry(look),
            Self::Wayland(compositor) => {
                look(&mut compositor.registry.lock().unwrap_or_else(PoisonError::into_inner))
            }
        }
    }

    /// A picture of the screen, or of a part of it.
    pub(crate) async fn picture(
        &self,
        operation: &'static str,
        region: Option<Rect<Screen>>,
    ) -> DesktopResult<Picture> {
        match self {
            Self::X11(display) => {
                let take = move |worker: &mut X11Worker| {
                    let X11Worker { camera, connection, root, .. } = worker;
                    camera.picture(connection, *root, region)
                };
                display.call(operation, take).await
            }
            Self::Wayland(compositor) => compositor.display.picture(region).await,
        }
    }

    /// The processes that serve every application: X server and window manager, or compositor.
    pub(crate) async fn processes(&self) -> DesktopResult<Vec<u32>> {
        match self {
            Self::X11(display) => display.call("find the X server", |worker| worker.server_processes()).await,
            Self::Wayland(compositor) => Ok(compositor.display.process().into_iter().collect()),
        }
    }

    /// Cancelled when it has ended.
    pub(crate) fn gone(&self) -> &CancellationToken {
        match self {
            Self::X11(display) => display.gone(),
            Self::Wayland(compositor) => compositor.display.gone(),
        }
    }

    /// The error of a server that has ended.
    pub(crate) fn gone_error(&self) -> DesktopError {
        match self {
            Self::X11(display) => display.gone_error(),
            Self::Wayland(compositor) => compositor.display.gone_error(),
        }
    }

    /// The name of the display, such as `:3` or `wayland-1`.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::X11(display) => display.name(),
            Self::Wayland(compositor) => &compositor.name,
        }
    }

    /// The size of the screen when the connection was made.
    pub(crate) fn size(&self) -> Size {
        match self {
            Self::X11(display) => display.size(),
            Self::Wayland(compositor) => compositor.display.size(),
        }
    }

    /// Returns the origin of the positions that applications report.
    pub(crate) const fn origin(&self) -> CoordinateOrigin {
        match self {
            Self::X11(_) => CoordinateOrigin::Screen,
            Self::Wayland(_) => CoordinateOrigin::Window,
        }
    }

    /// Returns `true` if pictures can be taken.
    pub(crate) fn takes_pictures(&self) -> bool {
        match self {
            Self::X11(_) => true,
            Self::Wayland(compositor) => compositor.display.takes_pictures(),
        }
    }

    /// Returns the name of the platform for reports.
    pub(crate) const fn platform(&self) -> &'static str {
        match self {
            Self::X11(_) => "linux-x11",
            Self::Wayland(_) => "linux-wayland",
        }
    }
}
