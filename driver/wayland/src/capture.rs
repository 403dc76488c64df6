//! Pictures by `wlr-screencopy`: the compositor writes into an anonymous file that both sides hold open, and we read from it.

use std::{
    fs::File,
    os::{fd::AsFd as _, unix::fs::FileExt as _},
    time::Duration,
};

use deskhand_desktop::{DesktopError, DesktopResult, Picture};
use deskhand_ui::geometry::{Rect, Screen};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use wayland_client::{
    Connection, Dispatch, QueueHandle, WEnum, delegate_noop,
    protocol::{
        wl_buffer::WlBuffer,
        wl_shm::{Format, WlShm},
        wl_shm_pool::WlShmPool,
    },
};
use wayland_protocols_wlr::screencopy::v1::client::{
    zwlr_screencopy_frame_v1::{self, Flags, ZwlrScreencopyFrameV1},
    zwlr_screencopy_manager_v1::ZwlrScreencopyManagerV1,
};

use crate::{
    client::WaylandClient,
    frame::{CaptureBufferLayout, FrameKey, ScreencopyFrame},
    monitors::{Monitor, layout},
    state::WaylandState,
};

/// Maximum time for the compositor to deliver a picture.
const FRAME_BOUND: Duration = Duration::from_secs(4);
/// The most bytes of one picture.
const BYTES_MAX: u32 = 512 << 20;
const OPERATION: &str = "take a screenshot";

impl Dispatch<ZwlrScreencopyFrameV1, FrameKey> for WaylandState {
    fn event(
        state: &mut Self,
        _: &ZwlrScreencopyFrameV1,
        event: zwlr_screencopy_frame_v1::Event,
        key: &FrameKey,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwlr_screencopy_frame_v1::Event;
        let frame = state.frames.entry(*key).or_default();
        if let Event::Buffer { format: WEnum::Value(format), width, height, stride } = event {
            frame.layout = Some(CaptureBufferLayout { format, width, height, stride });
        } else if let Event::Flags { flags } = event {
            frame.inverted = matches!(flags, WEnum::Value(flags) if flags.contains(Flags::YInvert));
        } else if let Event::Damage { x, y, width, height } = event {
            frame.damage.push([x, y, width, height]);
        } else if let Event::Ready { .. } = event {
            frame.taken = Some(true);
        } else if let Event::Failed = event {
            frame.taken = Some(false);
        }
    }
}

delegate_noop!(WaylandState: ZwlrScreencopyManagerV1);

/// Memory that is shared with the compositor.
pub(crate) struct ScreencopyBuffer {
    pub(crate) layout: CaptureBufferLayout,
    pub(crate) buffer: WlBuffer,
    pool: WlShmPool,
    file: File,
}

impl ScreencopyBuffer {
    /// Memory for one picture.
    pub(crate) fn new(
        shm: &WlShm,
        layout: CaptureBufferLayout,
        handle: &QueueHandle<WaylandState>,
    ) -> DesktopResult<Self> {
        let failed = |error: std::io::Error| DesktopError::failed("share memory with the compositor", error);
        let bytes = layout.stride.checked_mul(layout.height).filter(|bytes| *bytes <= BYTES_MAX);
        let bytes = bytes.ok_or_else(|| DesktopError::failed(OPERATION, "it is unreasonably large"))?;
        let file =
            memfd_create("deskhand-capture", MemfdFlags::CLOEXEC).map_err(|error| failed(error.into()))?;
        ftruncate(&file, u64::from(bytes)).map_err(|error| failed(error.into()))?;
        let int = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        let pool = shm.create_pool(file.as_fd(), int(bytes), handle, ());
        let CaptureBufferLayout { format, width, height, stride } = layout;
        let buffer = pool.create_buffer(0, int(width), int(height), int(stride), format, handle, ());
        Ok(Self { layout, buffer, pool, file: File::from(file) })
    }

    /// Returns the pixels that the compositor wrote into it, as RGB.
    fn rgb(&self, inverted: bool) -> DesktopResult<Vec<u8>> {
        let CaptureBufferLayout { format, width, height, stride } = self.layout;
        let index = |number: u32| usize::try_from(number).unwrap_or(0);
        let (width, height, stride) = (index(width), index(height), index(stride));
        let order = PixelColourOrder::of(format)?;
        let mut bytes = vec![0; stride * height];
        self.file
            .read_exact_at(&mut bytes, 0)
            .map_err(|error| DesktopError::failed("read the screenshot from shared memory", error))?;
        let mut rgb = Vec::with_capacity(width * height * 3);
        for row in 0..height {
            let row = if inverted { height - 1 - row } else { row };
            let pixels = bytes.get(row * stride..row * stride + width * 4).unwrap_or_default();
            order.append(pixels, &mut rgb);
        }
        Ok(rgb)
    }
}

impl Drop for ScreencopyBuffer {
    fn drop(&mut self) {
        self.buffer.destroy();
        self.pool.destroy();
    }
}

/// The order of the colours of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PixelColourOrder {
    BlueFirst,
    RedFirst,
}

impl PixelColourOrder {
    fn of(format: Format) -> DesktopResult<Self> {
        if [Format::Xrgb8888, Format::Argb8888].contains(&format) {
            return Ok(Self::BlueFirst);
        }
        if [Format::Xbgr8888, Format::Abgr8888].contains(&format) {
            return Ok(Self::RedFirst);
        }
        Err(DesktopError::failed(OPERATION, format!("the compositor has pixels of the format {format:?}")))
    }

    fn append(self, pixels: &[u8], rgb: &mut Vec<u8>) {
        for pixel in pixels.chunks_exact(4) {
            if let [first, green, third, _] = pixel {
                rgb.extend(match self {
                    Self::BlueFirst => [*third, *green, *first],
                    Self::RedFirst => [*first, *green, *third],
                });
            }
        }
    }
}

/// Takes pictures on one connection.
#[derive(Default)]
pub(crate) struct ScreencopyCapture {
    parts: Option<(ZwlrScreencopyManagerV1, WlShm)>,
    last_key: FrameKey,
}

impl ScreencopyCapture {
    fn parts(&mut self, client: &WaylandClient) -> DesktopResult<(ZwlrScreencopyManagerV1, WlShm)> {
        if self.parts.is_none() {
            self.parts = Some((client.bind(OPERATION, 1..=3)?, client.bind(OPERATION, 1..=1)?));
        }
        self.parts.clone().ok_or_else(|| client.gone())
    }

    /// A picture of all monitors, or of a part of them.
    pub(crate) fn picture(
        &mut self,
        client: &mut WaylandClient,
        region: Option<Rect<Screen>>,
    ) -> DesktopResult<Picture> {
        client.round_trip()?;
        let screen = layout(&client.state.monitors);
        let wanted = region.unwrap_or(screen);
        let region = screen.intersection(&wanted).ok_or_else(|| outside(wanted, screen))?;
        let size = |side: i32| usize::try_from(side).unwrap_or(0);
        let mut picture = Picture { region, rgb: vec![0; size(region.width) * size(region.height) * 3] };
        for monitor in client.state.monitors.clone() {
            if let Some(part) = monitor.area.intersection(&region) {
                let taken = self.part(client, &monitor, part)?;
                lay(&taken, &mut picture);
            }
        }
        Ok(picture)
    }

    /// A picture of a part of one monitor, in the units of the layout.
    fn part(
        &mut self,
        client: &mut WaylandClient,
        monitor: &Monitor,
        part: Rect<Screen>,
    ) -> DesktopResult<Picture> {
        if !monitor.is_upright {
            return Err(DesktopError::failed(OPERATION, "a monitor is turned, which is not supported"));
        }
        let (manager, shm) = self.parts(client)?;
        let handle = client.queue.handle();
        self.last_key = self.last_key.wrapping_add(1);
        let key = self.last_key;
        client.state.frames.insert(key, ScreencopyFrame::default());
        let place: Rect<deskhand_ui::geometry::WindowSpace> = part.relative_to(&monitor.area.origin());
        let (x, y, width, height) = (place.x, place.y, place.width, place.height);
        let frame = manager.capture_output_region(0, &monitor.output, x, y, width, height, &handle, key);
        let memory = taken(client, key, &frame, &shm, &handle);
        frame.destroy();
        let inverted = client.state.frames.remove(&key).is_some_and(|frame| frame.inverted);
        let memory = memory?;
        let int = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        let pixels = Rect::new(part.x, part.y, int(memory.layout.width), int(memory.layout.height));
        let picture = Picture { region: pixels, rgb: memory.rgb(inverted)? };
        Ok(if pixels == part { picture } else { fitted(&picture, part) })
    }
}

/// Has a picture written into memory.
fn taken(
    client: &mut WaylandClient,
    key: FrameKey,
    frame: &ZwlrScreencopyFrameV1,
    shm: &WlShm,
    handle: &QueueHandle<WaylandState>,
) -> DesktopResult<ScreencopyBuffer> {
    let refused = || DesktopError::failed(OPERATION, "the compositor refused it; is a monitor switched on?");
    let is = |state: &WaylandState, done: &dyn Fn(&ScreencopyFrame) -> bool| {
        state.frames.get(&key).is_none_or(done)
    };
    client.wait(FRAME_BOUND, |state| is(state, &|frame| frame.layout.is_some() || frame.taken.is_some()))?;
    let layout = client.state.frames.get(&key).and_then(|frame| frame.layout).ok_or_else(refused)?;
    let memory = ScreencopyBuffer::new(shm, layout, handle)?;
    frame.copy(&memory.buffer);
    client.wait(FRAME_BOUND, |state| is(state, &|frame| frame.taken.is_some()))?;
    let taken = client.state.frames.get(&key).and_then(|frame| frame.taken);
    if taken == Some(true) { Ok(memory) } else { Err(refused()) }
}

/// A picture in pixels, in the units of the layout.
fn fitted(picture: &Picture, part: Rect<Screen>) -> Picture {
    let side = |length: i32| u32::try_from(length).unwrap_or(0);
    let (width, height) = (side(part.width), side(part.height));
    let smaller = picture.width() >= width && picture.height() >= height && width > 0 && height > 0;
    if smaller { picture.scaled_to(width, height) } else { picture.clone() }
}

/// The error of a region that is nowhere on the screen.
pub(crate) fn outside(wanted: Rect<Screen>, screen: Rect<Screen>) -> DesktopError {
    let Rect { x, y, width, height, .. } = wanted;
    let what = format!(
        "the region {width}x{height} at {x},{y} lies outside the {}x{} screen",
        screen.width, screen.height
    );
    DesktopError::failed("take a screenshot of a region", what)
}

/// Lays a part into a picture.
pub(crate) fn lay(part: &Picture, whole: &mut Picture) {
    let Some(common) = part.region.intersection(&whole.region) else { return };
    let size = |side: i32| usize::try_from(side).unwrap_or(0);
    let at = |picture: &Picture, y: i32| {
        let row = size(y - picture.region.y) * size(picture.region.width);
        (row + size(common.x - picture.region.x)) * 3
    };
    let length = size(common.width) * 3;
    for y in common.y..common.bottom() {
        let (from, to) = (at(part, y), at(whole, y));
        if let (Some(from), Some(to)) =
            (part.rgb.get(from..from + length), whole.rgb.get_mut(to..to + length))
        {
            to.copy_from_slice(from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_reordered_to_rgb() {
        let check = |format: Format, expected: [u8; 6]| {
            let mut rgb = Vec::new();
            PixelColourOrder::of(format).unwrap().append(&[1, 2, 3, 255, 4, 5, 6, 0], &mut rgb);
            assert_eq!(rgb, expected);
        };
        check(Format::Xrgb8888, [3, 2, 1, 6, 5, 4]);
        check(Format::Abgr8888, [1, 2, 3, 4, 5, 6]);
        assert!(PixelColourOrder::of(Format::Rgb565).is_err());
    }

    #[test]
    fn parts_of_monitors_are_laid_side_by_side() {
        let plain = |region: Rect<Screen>, value: u8| {
            let pixels = usize::try_from(region.width * region.height).unwrap();
            Picture { region, rgb: vec![value; pixels * 3] }
        };
        let mut whole = plain(Rect::new(-1, 0, 4, 2), 0);
        lay(&plain(Rect::new(-1, 0, 2, 2), 1), &mut whole);
        lay(&plain(Rect::new(1, 0, 2, 1), 2), &mut whole);
        let row = |at: usize| whole.rgb[at * 12..][..12].iter().step_by(3).copied().collect::<Vec<u8>>();
        assert_eq!((row(0), row(1)), (vec![1, 1, 2, 2], vec![1, 1, 0, 0]));
    }

    #[test]
    fn a_picture_of_a_finer_monitor_gets_the_units_of_the_layout() {
        let fine = Picture { region: Rect::new(5, 5, 4, 2), rgb: [10, 20].repeat(12) };
        let picture = fitted(&fine, Rect::new(5, 5, 2, 1));
        assert_eq!((picture.region, picture.rgb.len()), (Rect::new(5, 5, 2, 1), 6));
    }
}
