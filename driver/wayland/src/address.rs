//! Address of a compositor.

use std::{ffi::OsString, path::PathBuf};

/// The name of the file with the permission of a portal.
const TOKEN: &str = "portal-token";

/// The sockets of a compositor, and what else leads to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompositorAddress {
    /// The one of the Wayland protocol.
    pub(crate) socket: PathBuf,
    /// The one of sway's own protocol.
    pub(crate) sway: Option<PathBuf>,
    /// The session bus, on which the portals are.
    pub(crate) bus: Option<String>,
    /// File that stores the permission of a portal.
    pub(crate) token: Option<PathBuf>,
}

impl CompositorAddress {
    /// The compositor that the variables of an environment name (`WAYLAND_DISPLAY`, `XDG_RUNTIME_DIR`, `SWAYSOCK`,
    /// `DBUS_SESSION_BUS_ADDRESS`); `None` if they name none.
    pub fn of(find: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let find = |name: &str| find(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let name = find("WAYLAND_DISPLAY")?;
        let socket = if name.is_absolute() { name } else { find("XDG_RUNTIME_DIR")?.join(name) };
        let bus = find("DBUS_SESSION_BUS_ADDRESS").map(|bus| bus.to_string_lossy().into_owned());
        let state = find("XDG_STATE_HOME").filter(|folder| folder.is_absolute());
        let state = state.or_else(|| find("HOME").map(|home| home.join(".local/state")));
        let token = state.map(|folder| folder.join("deskhand").join(TOKEN));
        Some(Self { socket, sway: find("SWAYSOCK"), bus, token })
    }

    /// The name of the display, for messages: `wayland-1`.
    pub fn name(&self) -> String {
        self.socket.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<CompositorAddress> {
        CompositorAddress::of(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn the_sockets_are_those_of_the_environment() {
        assert_eq!(of(&[("DISPLAY", ":0"), ("XDG_RUNTIME_DIR", "/run/user/1")]), None);
        assert_eq!(of(&[("WAYLAND_DISPLAY", ""), ("XDG_RUNTIME_DIR", "/run/user/1")]), None);
        let address = of(&[("WAYLAND_DISPLAY", "wayland-1"), ("XDG_RUNTIME_DIR", "/run/user/1")]).unwrap();
        assert_eq!((address.socket, address.sway), ("/run/user/1/wayland-1".into(), None));
        assert_eq!((address.bus, address.token), (None, None));
        let address = of(&[("WAYLAND_DISPLAY", "/run/w"), ("SWAYSOCK", "/run/sway.sock")]).unwrap();
        assert_eq!((address.name(), address.sway), ("w".to_owned(), Some("/run/sway.sock".into())));
        let address = of(&[
            ("WAYLAND_DISPLAY", "/run/w"),
            ("HOME", "/home/anna"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/bus"),
        ])
        .unwrap();
        assert_eq!(address.bus.as_deref(), Some("unix:path=/run/bus"));
        assert_eq!(address.token, Some("/home/anna/.local/state/deskhand/portal-token".into()));
    }
}
