//! What a compositor offers of what is needed.

use std::fs;

use deskhand_desktop::DesktopResult;

use crate::{address::Address, client::Client, sway::Sway};

/// What a compositor offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    /// The name of its process; empty if it is not known.
    pub compositor: String,
    /// What is there, in words.
    pub offered: Vec<&'static str>,
    /// What is not, in words.
    pub missing: Vec<&'static str>,
}

/// What is needed: what for, and the interface with its least version.
const NEEDED: [(&str, &str, u32); 5] = [
    ("pictures (wlr-screencopy 2)", "zwlr_screencopy_manager_v1", 2),
    ("the pointer (wlr-virtual-pointer)", "zwlr_virtual_pointer_manager_v1", 1),
    ("keys (virtual-keyboard)", "zwp_virtual_keyboard_manager_v1", 1),
    ("the clipboard (wlr-data-control)", "zwlr_data_control_manager_v1", 1),
    ("places of monitors (xdg-output)", "zxdg_output_manager_v1", 1),
];
const WINDOWS: &str = "windows with their places (the socket of sway)";

impl Support {
    /// Asks the compositor. Blocking.
    ///
    /// # Errors
    /// [`deskhand_desktop::DesktopError::Failed`] if it refuses the connection.
    pub fn of(address: &Address) -> DesktopResult<Self> {
        let client = Client::open(address)?;
        let name = client.process().and_then(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).ok());
        let compositor = name.unwrap_or_default().trim().to_owned();
        let globals = client.globals.contents().clone_list();
        let answers = || Sway::open(address.sway.as_ref()?).ok()?.tree().ok();
        let windows = (WINDOWS, answers().is_some());
        let others = NEEDED.iter().map(|(what, interface, least)| {
            let has = globals.iter().any(|global| global.interface == *interface && global.version >= *least);
            (*what, has)
        });
        let (offered, missing): (Vec<_>, Vec<_>) =
            std::iter::once(windows).chain(others).partition(|(_, has)| *has);
        let words = |list: Vec<(&'static str, bool)>| list.into_iter().map(|(what, _)| what).collect();
        Ok(Self { compositor, offered: words(offered), missing: words(missing) })
    }

    /// Whether all of it is there.
    pub fn is_enough(&self) -> bool {
        self.missing.is_empty()
    }

    /// In one sentence.
    pub fn describe(&self) -> String {
        let name = if self.compositor.is_empty() { "the compositor" } else { &self.compositor };
        if self.is_enough() {
            return format!("{name} offers {}", self.offered.join(", "));
        }
        let offered = if self.offered.is_empty() {
            String::new()
        } else {
            format!("; it offers {}", self.offered.join(", "))
        };
        format!("{name} does not offer {}{offered}", self.missing.join(", "))
    }
}
