//! The windows of GNOME and KDE, over the session bus: no protocol of Wayland tells where they are.
//!
//! - [`ShellWindowClient`] is the compositor; `kwin` asks KWin by a script, `gnome` asks the extension of ours in GNOME Shell.
//! - `listing` is what both answer.

pub(crate) mod gnome;
mod kwin;
mod listing;

use deskhand_desktop::DesktopResult;
use tokio::runtime::Handle;
use zbus::{Connection, fdo::DBusProxy, names::BusName};

use crate::{events::Sink, portal::PortalFenceProperty, windows::Toplevel};

use gnome::Gnome;
use kwin::KWin;
use listing::ShellWindowNumbers;

/// A desktop whose portals are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PortalDesktopKind {
    Gnome,
    KWin,
}

const GNOME_PASSED: [PortalFenceProperty; 2] = [
    passed_by_portal("org.freedesktop.impl.portal.desktop.gnome"),
    PortalFenceProperty {
        service: "org.gnome.Mutter.RemoteDesktop",
        path: "/org/gnome/Mutter/RemoteDesktop",
        interface: "org.gnome.Mutter.RemoteDesktop",
        property: "SupportedDeviceTypes",
    },
];
const KWIN_PASSED: [PortalFenceProperty; 2] = [
    passed_by_portal("org.freedesktop.impl.portal.desktop.kde"),
    PortalFenceProperty {
        service: kwin::SERVICE,
        path: "/KWin",
        interface: "org.kde.KWin",
        property: "showingDesktop",
    },
];

const fn passed_by_portal(service: &'static str) -> PortalFenceProperty {
    PortalFenceProperty {
        service,
        path: "/org/freedesktop/portal/desktop",
        interface: "org.freedesktop.impl.portal.RemoteDesktop",
        property: "AvailableDeviceTypes",
    }
}

impl PortalDesktopKind {
    /// The one that runs on a session bus, if any does.
    pub(crate) async fn running(bus: &Connection) -> Option<Self> {
        let names = DBusProxy::new(bus).await.ok()?;
        for (kind, name) in [(Self::Gnome, gnome::SERVICE), (Self::KWin, kwin::SERVICE)] {
            let name = BusName::try_from(name).ok()?;
            if names.name_has_owner(name).await.unwrap_or(false) {
                return Some(kind);
            }
        }
        None
    }

    /// Returns the properties whose replies confirm that the compositor has received earlier requests to the
    /// portal.
    pub(crate) const fn passed(self) -> [PortalFenceProperty; 2] {
        match self {
            Self::Gnome => GNOME_PASSED,
            Self::KWin => KWIN_PASSED,
        }
    }

    /// Who tells where windows are.
    pub(crate) const fn windows(self) -> &'static str {
        match self {
            Self::Gnome => "windows with their places (the extension of Deskhand in GNOME Shell)",
            Self::KWin => "windows with their places (scripts of KWin)",
        }
    }

    /// The package with its portals.
    pub(crate) const fn portal_package(self) -> &'static str {
        match self {
            Self::Gnome => "xdg-desktop-portal-gnome",
            Self::KWin => "xdg-desktop-portal-kde",
        }
    }

    /// Returns `true` if it lists windows.
    pub(crate) async fn lists_windows(self, bus: &Connection) -> bool {
        match self {
            Self::Gnome => gnome::is_there(bus).await,
            Self::KWin => kwin::is_there(bus).await,
        }
    }
}

/// The compositor, asked for windows. For a thread that may block.
pub(crate) struct ShellWindowClient {
    asked: ShellBackend,
    numbers: ShellWindowNumbers,
    runtime: Handle,
}

enum ShellBackend {
    Gnome(Gnome),
    KWin(KWin),
}

impl ShellWindowClient {
    /// Begins to follow the windows; each change goes to `sink`.
    pub(crate) async fn open(kind: PortalDesktopKind, bus: &Connection, sink: &Sink) -> DesktopResult<Self> {
        let asked = match kind {
            PortalDesktopKind::Gnome => ShellBackend::Gnome(Gnome::open(bus, sink).await?),
            PortalDesktopKind::KWin => ShellBackend::KWin(KWin::open(bus, sink).await?),
        };
        Ok(Self { asked, numbers: ShellWindowNumbers::default(), runtime: Handle::current() })
    }

    /// All windows, bottom-most first.
    pub(crate) fn toplevels(&mut self) -> DesktopResult<Vec<Toplevel>> {
        let text = self.runtime.block_on(async {
            match &self.asked {
                ShellBackend::Gnome(gnome) => gnome.list().await,
                ShellBackend::KWin(kwin) => kwin.list().await,
            }
        })?;
        self.numbers.toplevels(&text)
    }

    /// Asks for the focus for a window; returns whether there is such a window.
    pub(crate) fn focus(&self, window: u32) -> DesktopResult<bool> {
        self.change("activate a window", window, "Activate")
    }

    /// Asks a window to close; returns whether there is such a window.
    pub(crate) fn close(&self, window: u32) -> DesktopResult<bool> {
        self.change("close a window", window, "Close")
    }

    /// Ends following the windows.
    pub(crate) fn end(&self) {
        match &self.asked {
            ShellBackend::Gnome(_) => {}
            ShellBackend::KWin(kwin) => self.runtime.block_on(kwin.end()),
        }
    }

    fn change(&self, operation: &'static str, window: u32, what: &'static str) -> DesktopResult<bool> {
        let Some(id) = self.numbers.id_of(window) else { return Ok(false) };
        self.runtime.block_on(async {
            match &self.asked {
                ShellBackend::Gnome(gnome) => gnome.change(operation, what, id).await,
                ShellBackend::KWin(kwin) => kwin.change(operation, what, id).await,
            }
        })
    }
}
