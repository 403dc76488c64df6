//! The data that arrived on a connection: monitors, pictures that are being taken, and the clipboard.
//!
//! The events of registry and monitors are handled here, those of pictures and clipboard where they are used.

use std::collections::HashMap;

use deskhand_ui::geometry::Rect;
use wayland_client::{
    Connection, Dispatch, Proxy as _, QueueHandle, delegate_noop,
    globals::GlobalListContents,
    protocol::{
        wl_buffer::WlBuffer,
        wl_output::{self, WlOutput},
        wl_registry::{self, WlRegistry},
        wl_seat::WlSeat,
        wl_shm::WlShm,
        wl_shm_pool::WlShmPool,
    },
};
use wayland_protocols::xdg::xdg_output::zv1::client::{
    zxdg_output_manager_v1::ZxdgOutputManagerV1,
    zxdg_output_v1::{self, ZxdgOutputV1},
};

use crate::{
    frame::{FrameKey, ScreencopyFrame},
    monitors::Monitor,
    selection::Selection,
};

/// The version of `wl_output` that is understood.
const OUTPUT_VERSION: u32 = 3;
/// Data received on a connection.
#[derive(Default)]
pub(crate) struct WaylandState {
    pub(crate) monitors: Vec<Monitor>,
    pub(crate) places: Option<ZxdgOutputManagerV1>,
    /// The pictures that are being taken.
    pub(crate) frames: HashMap<FrameKey, ScreencopyFrame>,
    pub(crate) selection: Selection,
}

impl WaylandState {
    /// Adds a monitor that was announced, and has its place told.
    pub(crate) fn add_monitor(
        &mut self,
        registry: &WlRegistry,
        name: u32,
        version: u32,
        handle: &QueueHandle<Self>,
    ) {
        let output: WlOutput = registry.bind(name, version.min(OUTPUT_VERSION), handle, name);
        if let Some(places) = &self.places {
            places.get_xdg_output(&output, handle, name);
        }
        self.monitors.push(Monitor::new(name, output));
    }

    fn with_monitor(&mut self, number: u32, change: impl FnOnce(&mut Monitor)) {
        if let Some(monitor) = self.monitors.iter_mut().find(|monitor| monitor.number == number) {
            change(monitor);
        }
    }
}

impl Dispatch<WlRegistry, GlobalListContents> for WaylandState {
    fn event(
        state: &mut Self,
        registry: &WlRegistry,
        event: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        handle: &QueueHandle<Self>,
    ) {
        if let wl_registry::Event::Global { name, interface, version } = event {
            if interface == WlOutput::interface().name {
                state.add_monitor(registry, name, version, handle);
            }
        } else if let wl_registry::Event::GlobalRemove { name } = event {
            state.monitors.retain(|monitor| monitor.number != name);
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

delegate_noop!(WaylandState: ignore WlShm);
delegate_noop!(WaylandState: WlShmPool);
delegate_noop!(WaylandState: ignore WlBuffer);
delegate_noop!(WaylandState: ignore WlSeat);
delegate_noop!(WaylandState: ZxdgOutputManagerV1);
