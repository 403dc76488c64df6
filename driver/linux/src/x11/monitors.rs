//! The monitors of a screen, by RandR.

use x11rb::{
    cookie::Cookie,
    protocol::randr::{GetMonitorsReply, MonitorInfo},
    rust_connection::RustConnection,
};

/// The areas of monitors; none if the server does not tell.
pub(super) fn areas(monitors: Cookie<'_, RustConnection, GetMonitorsReply>) -> Vec<[i32; 4]> {
    let Ok(reply) = monitors.reply() else { return Vec::new() };
    let area = |monitor: &MonitorInfo| {
        [monitor.x.into(), monitor.y.into(), monitor.width.into(), monitor.height.into()]
    };
    reply.monitors.iter().map(area).collect()
}
