//! The monitors of a compositor: where each is in the layout.

use deskhand_ui::geometry::{Rect, Screen};
use wayland_client::{
    Connection, Dispatch, QueueHandle,
    protocol::wl_output::{self, WlOutput},
};
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_v1::{self, ZxdgOutputV1};

use crate::client::WaylandState;

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

impl WaylandState {
    fn with_monitor(&mut self, number: u32, change: impl FnOnce(&mut Monitor)) {
        if let Some(monitor) = self.monitors.iter_mut().find(|monitor| monitor.number == number) {
            change(monitor);
        }
    }
}

impl Dispatch<WlOutput, u32> for WaylandState {
    fn event(
        state: &mut Self,
        _: &WlOutput,
        event: wl_output::Event,
        number: &u32,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_output::Event::Geometry { transform, .. } = event {
            let upright = transform == wayland_client::WEnum::Value(wl_output::Transform::Normal);
            state.with_monitor(*number, |monitor| monitor.is_upright = upright);
        }
    }
}

impl Dispatch<ZxdgOutputV1, u32> for WaylandState {
    fn event(
        state: &mut Self,
        _: &ZxdgOutputV1,
        event: zxdg_output_v1::Event,
        number: &u32,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let zxdg_output_v1::Event::LogicalPosition { x, y } = event {
            state.with_monitor(*number, |monitor| {
                monitor.area = Rect::new(x, y, monitor.area.width, monitor.area.height);
            });
        } else if let zxdg_output_v1::Event::LogicalSize { width, height } = event {
            state.with_monitor(*number, |monitor| {
                monitor.area = Rect::new(monitor.area.x, monitor.area.y, width, height);
            });
        }
    }
}
