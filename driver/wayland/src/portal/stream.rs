//! The pictures of shared monitors. PipeWire carries them; GStreamer, as a program of its own, reads them and writes each that is new to a
//! pipe, in units of the layout. Nothing of both is linked in.

use std::{
    io::Read as _,
    os::fd::OwnedFd,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::Duration,
};

use deskhand_desktop::{DesktopError, DesktopResult, Picture};
use deskhand_ui::geometry::{Rect, Screen};
use tokio::{
    runtime::Runtime,
    sync::watch,
    time::{Instant, timeout, timeout_at},
};

use super::changes::{PIXEL, changes};
use crate::{
    capture::{lay, outside},
    events::{CompositorEvent, Sink},
    monitors::layout_of,
};

/// The program that reads streams.
const LAUNCHER: &str = "gst-launch-1.0";
/// The program that says which elements it has.
const INSPECTOR: &str = "gst-inspect-1.0";
/// Maximum time until the first picture.
const FIRST_BOUND: Duration = Duration::from_secs(10);
/// A compositor that has drawn something sends its picture within this time, as far as can be told: some refreshes of a slow monitor.
const ON_ITS_WAY: Duration = Duration::from_millis(50);
/// One that goes on drawing is not waited for any longer.
const CATCH_UP_BOUND: Duration = Duration::from_millis(250);
/// The most bytes of one picture.
const BYTES_MAX: usize = 512 << 20;
const OPERATION: &str = "read the stream of the screen";

/// Returns `true` if GStreamer is installed with what it needs. Blocking.
pub(crate) fn can_read_streams() -> bool {
    ["pipewiresrc", "videoconvert", "videoscale"].iter().all(|element| {
        let mut inspect = Command::new(INSPECTOR);
        // Not `--exists`: that compares versions, and the plug-in of PipeWire has the one of PipeWire.
        inspect.arg(element).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        inspect.status().is_ok_and(|status| status.success())
    })
}

/// The pictures of one monitor.
struct MonitorStream {
    area: Rect<Screen>,
    /// The last one, in the order blue, green, red, nothing.
    last: Arc<Mutex<Vec<u8>>>,
    /// Number of pictures so far.
    count: watch::Receiver<u64>,
    reader: Child,
}

/// The pictures of all shared monitors.
pub(crate) struct Footage {
    streams: Vec<MonitorStream>,
}

impl Footage {
    /// Reads the stream of a node for each area, over a connection to PipeWire of its own. What is drawn goes to `sink`.
    pub(crate) fn open(sources: Vec<(u32, Rect<Screen>, OwnedFd)>, sink: &Sink) -> DesktopResult<Self> {
        let open = |(node, area, connection)| MonitorStream::open(node, area, connection, sink.clone());
        Ok(Self { streams: sources.into_iter().map(open).collect::<DesktopResult<_>>()? })
    }

    /// Waits for a picture of each monitor; returns whether all have come. For a thread that may block.
    pub(crate) fn await_first(&self, runtime: &Runtime) -> bool {
        self.streams.iter().all(|stream| {
            let mut count = stream.count.clone();
            let first =
                runtime.block_on(async { timeout(FIRST_BOUND, count.wait_for(|count| *count > 0)).await });
            matches!(first, Ok(Ok(_)))
        })
    }

    /// Returns the receivers that report new pictures.
    pub(crate) fn counts(&self) -> Vec<watch::Receiver<u64>> {
        self.streams.iter().map(|stream| stream.count.clone()).collect()
    }

    /// The areas of the monitors.
    pub(crate) fn areas(&self) -> impl Iterator<Item = Rect<Screen>> {
        self.streams.iter().map(|stream| stream.area)
    }

    /// A picture of all monitors, or of a part of them.
    pub(crate) fn picture(&self, region: Option<Rect<Screen>>) -> DesktopResult<Picture> {
        let screen = layout_of(self.areas());
        let wanted = region.unwrap_or(screen);
        let region = screen.intersection(&wanted).ok_or_else(|| outside(wanted, screen))?;
        let size = |side: i32| usize::try_from(side).unwrap_or(0);
        let mut picture = Picture { region, rgb: vec![0; size(region.width) * size(region.height) * 3] };
        for stream in &self.streams {
            if *stream.count.borrow() == 0 {
                return Err(DesktopError::failed(
                    "take a screenshot",
                    "the compositor has sent no picture yet",
                ));
            }
            if let Some(part) = stream.area.intersection(&region) {
                lay(&stream.part(part), &mut picture);
            }
        }
        Ok(picture)
    }
}

/// Waits until no picture is on its way any more, at most [`CATCH_UP_BOUND`]: no portal says that it has sent all.
pub(crate) async fn catch_up(counts: Vec<watch::Receiver<u64>>) {
    let until = Instant::now() + CATCH_UP_BOUND;
    for mut count in counts {
        count.mark_unchanged();
        while let Ok(Ok(())) = timeout_at(until.min(Instant::now() + ON_ITS_WAY), count.changed()).await {}
    }
}

impl MonitorStream {
    fn open(node: u32, area: Rect<Screen>, connection: OwnedFd, sink: Sink) -> DesktopResult<Self> {
        let failed = |error: std::io::Error| DesktopError::failed(format!("start `{LAUNCHER}`"), error);
        let side = |length: i32| usize::try_from(length).unwrap_or(0);
        let (width, height) = (side(area.width), side(area.height));
        let (sender, count) = watch::channel(0);
        let last = Arc::new(Mutex::new(Vec::new()));
        let film = Film { width, height, area, last: Arc::clone(&last), sender, sink };
        let (started, start) = mpsc::channel();
        // The reader dies with the thread that starts it, and so with this process.
        let run = move || match launcher(node, area, connection).spawn() {
            Ok(mut reader) => {
                let output = reader.stdout.take();
                // The receiver waits for it.
                let _ = started.send(Ok(reader));
                film.run(output);
            }
            Err(error) => drop(started.send(Err(error))),
        };
        std::thread::Builder::new().name("wayland-stream".to_owned()).spawn(run).map_err(failed)?;
        let gone = |_| DesktopError::failed(OPERATION, "its thread has ended");
        let reader = start.recv().map_err(gone)?.map_err(failed)?;
        Ok(Self { area, last, count, reader })
    }

    /// A part of the last picture.
    fn part(&self, part: Rect<Screen>) -> Picture {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let size = |side: i32| usize::try_from(side).unwrap_or(0);
        let mut rgb = Vec::with_capacity(size(part.width) * size(part.height) * 3);
        for y in part.y..part.bottom() {
            let from = size(y - self.area.y) * size(self.area.width) + size(part.x - self.area.x);
            let pixels = last.get(from * PIXEL..(from + size(part.width)) * PIXEL).unwrap_or_default();
            for pixel in pixels.chunks_exact(PIXEL) {
                if let [blue, green, red, _] = pixel {
                    rgb.extend([*red, *green, *blue]);
                }
            }
        }
        Picture { region: part, rgb }
    }
}

/// The command that writes the pictures of a node to its standard output, in the size of an area.
fn launcher(node: u32, area: Rect<Screen>, connection: OwnedFd) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", LAUNCHER, "-q"]);
    command.args(["pipewiresrc", "fd=0", "always-copy=true"]).arg(format!("path={node}"));
    // It keeps the newest picture for a reader that is slow.
    command.args(["!", "queue", "leaky=downstream", "max-size-buffers=1"]);
    command.args(["!", "videoconvert", "!", "videoscale", "!"]);
    let size = format!("width={},height={}", area.width, area.height);
    command.arg(format!("video/x-raw,format=BGRx,{size},pixel-aspect-ratio=1/1"));
    command.args(["!", "fdsink", "fd=1", "sync=false"]);
    command.stdin(connection).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

impl Drop for MonitorStream {
    fn drop(&mut self) {
        // It may have ended.
        self.reader.kill().ok();
        self.reader.wait().ok();
    }
}

/// State of the thread of a stream.
struct Film {
    width: usize,
    height: usize,
    area: Rect<Screen>,
    last: Arc<Mutex<Vec<u8>>>,
    sender: watch::Sender<u64>,
    sink: Sink,
}

impl Film {
    /// Reads pictures until there are no more.
    fn run(self, mut output: Option<ChildStdout>) {
        let length = self.width * self.height * PIXEL;
        let mut next = vec![0; length.min(BYTES_MAX)];
        while let Some(output) = &mut output {
            if output.read_exact(&mut next).is_err() {
                break;
            }
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            let areas = if last.len() == next.len() {
                changes(&last, &next, self.width, self.height)
            } else {
                vec![Rect::new(0, 0, self.area.width, self.area.height)]
            };
            last.resize(next.len(), 0);
            last.copy_from_slice(&next);
            drop(last);
            for area in areas {
                let (x, y) = (area.x.saturating_add(self.area.x), area.y.saturating_add(self.area.y));
                (self.sink)(CompositorEvent::Drawn { area: Rect::new(x, y, area.width, area.height) });
            }
            self.sender.send_modify(|count| *count = count.wrapping_add(1));
        }
        tracing::debug!("the stream of a monitor has ended");
        (self.sink)(CompositorEvent::Gone);
    }
}
