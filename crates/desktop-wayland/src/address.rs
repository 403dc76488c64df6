//! Where a compositor listens.

use std::{ffi::OsString, path::PathBuf};

/// The sockets of a compositor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The one of the Wayland protocol.
    pub(crate) socket: PathBuf,
    /// The one of sway's own protocol.
    pub(crate) sway: Option<PathBuf>,
}

impl Address {
    /// The compositor that the variables of an environment name (`WAYLAND_DISPLAY`, `XDG_RUNTIME_DIR`, `SWAYSOCK`); `None` if they name
    /// none.
    pub fn of(find: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let find = |name: &str| find(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let name = find("WAYLAND_DISPLAY")?;
        let socket = if name.is_absolute() { name } else { find("XDG_RUNTIME_DIR")?.join(name) };
        Some(Self { socket, sway: find("SWAYSOCK") })
    }

    /// The name of the display, for messages: `wayland-1`.
    pub fn name(&self) -> String {
        self.socket.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<Address> {
        Address::of(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn the_sockets_are_those_of_the_environment() {
        assert_eq!(of(&[("DISPLAY", ":0"), ("XDG_RUNTIME_DIR", "/run/user/1")]), None);
        assert_eq!(of(&[("WAYLAND_DISPLAY", ""), ("XDG_RUNTIME_DIR", "/run/user/1")]), None);
        let address = of(&[("WAYLAND_DISPLAY", "wayland-1"), ("XDG_RUNTIME_DIR", "/run/user/1")]).unwrap();
        assert_eq!((address.socket, address.sway), ("/run/user/1/wayland-1".into(), None));
        let address = of(&[("WAYLAND_DISPLAY", "/run/w"), ("SWAYSOCK", "/run/sway.sock")]).unwrap();
        assert_eq!((address.name(), address.sway), ("w".to_owned(), Some("/run/sway.sock".into())));
    }
}
