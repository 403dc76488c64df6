//! The monitors of a compositor: where each is in the layout.

use deskhand_ui::geometry::{Rect, Screen};
use wayland_client::protocol::wl_output::WlOutput;

/// A monitor.
#[derive(Debug, Clone)]
pub(crate) struct Monitor {
    /// The number by which the compositor announced it.
    pub(crate) number: u32,
    pub(crate) output: WlOutput,
    /// Its place in the layout.
    pub(crate) area: Rect<Screen>,
    /// `true` if it stands upright: pictures of others are rotated.
    pub(crate) is_upright: bool,
}

impl Monitor {
    pub(crate) fn new(number: u32, output: WlOutput) -> Self {
        Self { number, output, area: Rect::new(0, 0, 0, 0), is_upright: true }
    }
}

/// The area of all monitors.
pub(crate) fn layout(monitors: &[Monitor]) -> Rect<Screen> {
    layout_of(monitors.iter().map(|monitor| monitor.area))
}

/// The area that encloses these.
pub(crate) fn layout_of(areas: impl IntoIterator<Item = Rect<Screen>>) -> Rect<Screen> {
    let areas = areas.into_iter().filter(|area| !area.is_empty());
    areas.reduce(|all, area| all.enclosing(&area)).unwrap_or(Rect::new(0, 0, 0, 0))
}
