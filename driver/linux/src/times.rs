//! Durations in milliseconds.

use deskhand_ui::duration::milliseconds;
use tokio::time::Instant;

/// Startup times of the parts of a desktop, in milliseconds. Parts start side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct StartupTimes {
    /// The X server, until it accepts connections.
    pub display_ms: u64,
    /// The session bus, until it has an address.
    pub session_bus_ms: u64,
    /// The window manager, after the X server.
    pub window_manager_ms: u64,
    /// The accessibility bus, after the X server and the session bus.
    pub accessibility_ms: u64,
    /// All parts.
    pub total_ms: u64,
}

/// Milliseconds since `begun`.
pub(crate) fn elapsed_ms(begun: Instant) -> u64 {
    milliseconds(begun.elapsed())
}
