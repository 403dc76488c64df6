//! A desktop together with its server, whose kind decides how input and windows work.

use std::ops::Deref;

use crate::{desktop::LinuxDesktop, server::DisplayServer, wayland::Compositor, x11::display::X11Display};

/// A desktop with its server.
#[derive(Clone, Copy)]
pub(crate) enum On<'a> {
    X11(OnX11<'a>),
    Wayland(OnWayland<'a>),
}

/// A desktop on an X server.
#[derive(Clone, Copy)]
pub(crate) struct OnX11<'a> {
    desktop: &'a LinuxDesktop,
    display: &'a X11Display,
}

/// A desktop on a Wayland compositor.
#[derive(Clone, Copy)]
pub(crate) struct OnWayland<'a> {
    desktop: &'a LinuxDesktop,
    compositor: &'a Compositor,
}

impl LinuxDesktop {
    /// This desktop with its server.
    pub(crate) fn on(&self) -> On<'_> {
        match self.server() {
            DisplayServer::X11(display) => On::X11(OnX11 { desktop: self, display }),
            DisplayServer::Wayland(compositor) => On::Wayland(OnWayland { desktop: self, compositor }),
        }
    }
}

impl<'a> OnX11<'a> {
    pub(crate) const fn display(&self) -> &'a X11Display {
        self.display
    }
}

impl<'a> OnWayland<'a> {
    pub(crate) const fn compositor(&self) -> &'a Compositor {
        self.compositor
    }
}

impl Deref for OnX11<'_> {
    type Target = LinuxDesktop;

    fn deref(&self) -> &LinuxDesktop {
        self.desktop
    }
}

impl Deref for OnWayland<'_> {
    type Target = LinuxDesktop;

    fn deref(&self) -> &LinuxDesktop {
        self.desktop
    }
}
