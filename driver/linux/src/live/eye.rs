//! The thread of a viewer: it listens to what is drawn, and reads and encodes pixels when it is asked.
//!
//! While nobody asks, the X server collects what is drawn in a region of ours and says so once. So a caller that is slow costs
//! nothing and finds everything in one update. The thread sleeps until the server or the viewer has something for it; between two
//! updates it does not even listen.

use std::{
    io,
    os::fd::OwnedFd,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, TryRecvError},
    },
    time::Instant,
};

use deskhand_desktop::{DesktopError, DesktopResult, Picture};
use deskhand_ui::geometry::{Point, Rect, Screen, Size};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use tokio::sync::oneshot;
use x11rb::{
    connection::{Connection, RequestConnection},
    cookie::Cookie,
    protocol::{
        Event,
        damage::{self, ConnectionExt as _},
        xfixes::{self, ConnectionExt as _},
        xinput::{self, ConnectionExt as _, Device, XIEventMask},
        xproto::{ChangeWindowAttributesAux, ConnectionExt as _, EventMask, QueryPointerReply, Rectangle},
    },
    rust_connection::RustConnection,
};

use super::{
    frame::{ViewerFrame, merged},
    pace::ViewerPace,
    update::{ScreenUpdate, ScreenUpdateRegion},
};
use crate::x11::{
    address::X11Address,
    capture::X11Capture,
    fault::{WorkResult, X11RequestError},
};

/// The most areas that are read for one update.
const READS_MAX: usize = 8;
/// With more areas, the box around them is read.
const AREAS_MAX: usize = 64;
/// Maximum number of tries of a read: the screen can become smaller meanwhile.
const TRIES_MAX: u32 = 3;

/// Somebody who waits for an update.
pub(super) type Asked = oneshot::Sender<DesktopResult<ScreenUpdate>>;

/// Signals by which the thread learns the state of its viewer.
pub(super) struct ViewerSignals {
    /// Written to when there is a request, or none will come any more.
    pub(super) wake: Arc<OwnedFd>,
    /// Set while a caller waits for the reply to the request. If unset, the reply is sent once a caller waits.
    pub(super) waiting: Arc<AtomicBool>,
}

/// Runs a viewer until nobody can ask any more or the X server has ended. Tells the size of the screen once it is ready.
pub(super) fn run(
    address: &X11Address,
    name: &str,
    requests: &Receiver<Asked>,
    signals: ViewerSignals,
    opened: oneshot::Sender<DesktopResult<Size>>,
) {
    let made = ViewerCapture::open(address, name);
    let eye = match made {
        Ok((eye, size)) => {
            // If nobody waits for it any more, nobody can ask either.
            let _ = opened.send(Ok(size));
            eye
        }
        Err(error) => {
            let _ = opened.send(Err(error));
            return;
        }
    };
    ViewerLoop { eye, name, signals, asked: None, pace: ViewerPace::of_this_thread(), failed: 0 }
        .run(requests);
}

/// The loop of the thread.
struct ViewerLoop<'name> {
    eye: ViewerCapture,
    name: &'name str,
    signals: ViewerSignals,
    asked: Option<Asked>,
    pace: ViewerPace,
    /// Number of consecutive failed reads.
    failed: u32,
}

impl ViewerLoop<'_> {
    fn run(mut self, requests: &Receiver<Asked>) {
        loop {
            match requests.try_recv() {
                Ok(asked) => self.asked = Some(asked),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return,
            }
            if let Err(error) = self.proceed().and_then(|()| self.wait()) {
                tracing::debug!(?error, "a viewer ends");
                if let Some(asked) = self.asked.take() {
                    // Nobody waits if the viewer was dropped.
                    let _ = asked.send(Err(error));
                }
                return;
            }
        }
    }

    /// Handles events and makes an update, if it is time.
    fn proceed(&mut self) -> DesktopResult<()> {
        if !self.pace.rest().is_zero() {
            return Ok(());
        }
        let begun = Instant::now();
        let name = self.name;
        let heard = self.eye.listen();
        let heard = heard.map_err(|fault| fault.into_desktop_error("listen to the X server", name))?;
        let is_awaited = self.signals.waiting.load(Ordering::Acquire);
        let asked = if is_awaited && self.eye.news.is_any() { self.asked.take() } else { None };
        let Some(asked) = asked else {
            if heard {
                // A pointer that moves while nobody waits does not keep us awake.
                self.pace.listened(begun);
            }
            return Ok(());
        };
        match self.eye.look().map_err(|fault| fault.into_desktop_error("read the screen", name)) {
            Ok(None) => self.asked = Some(asked),
            Ok(Some(update)) => {
                self.failed = 0;
                // Nobody waits if the viewer was dropped.
                let _ = asked.send(Ok(update));
            }
            Err(error) => {
                self.failed += 1;
                if matches!(error, DesktopError::Gone { .. }) {
                    self.asked = Some(asked);
                    return Err(error);
                } else if self.failed < TRIES_MAX {
                    self.asked = Some(asked);
                } else {
                    self.failed = 0;
                    let _ = asked.send(Err(error));
                }
            }
        }
        self.pace.looked(begun);
        Ok(())
    }

    /// Waits until it is time, or until there is something to do.
    fn wait(&self) -> DesktopResult<()> {
        let wake: &OwnedFd = &self.signals.wake;
        let rest = self.pace.rest();
        let stream = self.eye.connection.stream();
        let mut both = [PollFd::new(wake, PollFlags::IN), PollFd::new(stream, PollFlags::IN)];
        let waited = if rest.is_zero() {
            poll(&mut both, None)
        } else {
            let rest = Timespec::try_from(rest).ok();
            let [called, _] = &mut both;
            poll(std::slice::from_mut(called), rest.as_ref())
        };
        match waited {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(DesktopError::failed("wait for the X server", io::Error::from(error))),
        }
        let [called, _] = &both;
        if called.revents().contains(PollFlags::IN) {
            // Whoever woke us has put something into the channel before.
            let _ = rustix::io::read(wake, &mut [0_u8; 8]);
        }
        Ok(())
    }
}

/// Events since the last look.
#[derive(Debug, Clone, Copy, Default)]
struct ViewerScreenChanges {
    /// Nothing of the last frame counts any more.
    whole: bool,
    drawn: bool,
    moved: bool,
}

impl ViewerScreenChanges {
    const fn is_any(self) -> bool {
        self.whole || self.drawn || self.moved
    }
}

/// Reader of the screen.
struct ViewerCapture {
    connection: RustConnection,
    root: u32,
    camera: X11Capture,
    damage: damage::Damage,
    /// The region on the server that damage is read into.
    region: xfixes::Region,
    /// The frame that was handed out last, and the position of the pointer at that time.
    frame: Option<ViewerFrame>,
    pointer: Point<Screen>,
    news: ViewerScreenChanges,
}

impl ViewerCapture {
    fn open(address: &X11Address, name: &str) -> DesktopResult<(Self, Size)> {
        let operation = "open the screen of a desktop";
        let (connection, screen) = address.connect()?;
        let root = connection.setup().roots.get(screen);
        let root = root.ok_or_else(|| DesktopError::failed(operation, "there is no such screen"))?;
        let (root, size) = (root.root, Size { width: root.width_in_pixels, height: root.height_in_pixels });
        let (damage, region) =
            select(&connection, root).map_err(|fault| fault.into_desktop_error(operation, name))?;
        let eye = Self {
            connection,
            root,
            camera: X11Capture::default(),
            damage,
            region,
            frame: None,
            pointer: Point::new(0, 0),
            news: ViewerScreenChanges { whole: true, ..ViewerScreenChanges::default() },
        };
        Ok((eye, size))
    }

    /// Reads all events that are there; returns whether there was one.
    fn listen(&mut self) -> Result<bool, X11RequestError> {
        let mut heard = false;
        while let Some(event) = self.connection.poll_for_event()? {
            heard = true;
            if let Event::DamageNotify(_) = event {
                self.news.drawn = true;
            } else if let Event::XinputRawMotion(_) = event {
                self.news.moved = true;
            } else if let Event::ConfigureNotify(configured) = event
                && configured.window == self.root
            {
                self.news.whole = true;
            }
        }
        Ok(heard)
    }

    /// Returns the differences from the frame that was handed out last; `None` if there are none.
    fn look(&mut self) -> WorkResult<Option<ScreenUpdate>> {
        let news = std::mem::take(&mut self.news);
        let found = match self.frame.take().filter(|_| !news.whole) {
            Some(frame) => self.compare(frame, news.drawn),
            None => self.look_at_all().map(Some),
        };
        // After a failure, the next look is at everything.
        self.news.whole |= found.is_err();
        found
    }

    fn look_at_all(&mut self) -> WorkResult<ScreenUpdate> {
        let pointer = self.connection.query_pointer(self.root)?;
        // What is drawn from here on is damage again.
        self.connection.damage_subtract(self.damage, x11rb::NONE, x11rb::NONE)?;
        let pointer = place_of(&pointer.reply()?);
        let picture = self.camera.picture(&self.connection, self.root, None)?;
        let part = encoded(&picture)?;
        let (screen, parts) = (size_of(&picture.region), vec![part]);
        (self.frame, self.pointer) = (Some(ViewerFrame::new(picture)), pointer);
        Ok(ScreenUpdate { whole: true, screen, pointer, parts })
    }

    fn compare(&mut self, mut frame: ViewerFrame, drawn: bool) -> WorkResult<Option<ScreenUpdate>> {
        let connection = &self.connection;
        let pointer = connection.query_pointer(self.root)?;
        let geometry = connection.get_geometry(self.root)?;
        let region = if drawn {
            // What is drawn from here on is damage again.
            connection.damage_subtract(self.damage, x11rb::NONE, self.region)?;
            Some(connection.xfixes_fetch_region(self.region)?)
        } else {
            None
        };
        let (pointer, geometry) = (place_of(&pointer.reply()?), geometry.reply()?);
        let region = region.map(Cookie::reply).transpose()?;
        let screen = Rect::new(0, 0, i32::from(geometry.width), i32::from(geometry.height));
        if screen != frame.region() {
            return self.look_at_all().map(Some);
        }
        let mut changes = frame.unchanged();
        for area in region.iter().flat_map(|region| areas_of(region, &screen)) {
            let picture = self.camera.picture(&self.connection, self.root, Some(area))?;
            frame.take_over(&picture, &mut changes);
        }
        let changed = changes.rectangles();
        let parts: Vec<ScreenUpdateRegion> = changed
            .iter()
            .filter_map(|area| frame.part(area))
            .map(|picture| encoded(&picture))
            .collect::<Result<_, _>>()?;
        let moved = std::mem::replace(&mut self.pointer, pointer) != pointer;
        self.frame = Some(frame);
        let update = ScreenUpdate { whole: false, screen: size_of(&screen), pointer, parts };
        Ok((moved || !update.parts.is_empty()).then_some(update))
    }
}

/// Asks the server to collect what is drawn, and to say when the pointer moves and when the screen gets another size.
fn select(connection: &RustConnection, root: u32) -> WorkResult<(damage::Damage, xfixes::Region)> {
    for name in [damage::X11_EXTENSION_NAME, xfixes::X11_EXTENSION_NAME] {
        if connection.extension_information(name)?.is_none() {
            let what = format!("its X server lacks the extension {name}");
            return Err(DesktopError::failed("watch a screen", what).into());
        }
    }
    connection.damage_query_version(1, 1)?.reply()?;
    connection.xfixes_query_version(5, 0)?.reply()?;
    let (region, damage) = (connection.generate_id()?, connection.generate_id()?);
    connection.xfixes_create_region(region, &[])?.check()?;
    connection.damage_create(damage, root, damage::ReportLevel::NON_EMPTY)?.check()?;
    let attributes = ChangeWindowAttributesAux::new().event_mask(EventMask::STRUCTURE_NOTIFY);
    connection.change_window_attributes(root, &attributes)?.check()?;
    if connection.extension_information(xinput::X11_EXTENSION_NAME)?.is_some() {
        connection.xinput_xi_query_version(2, 2)?.reply()?;
        let mask = vec![XIEventMask::RAW_MOTION];
        let moves = xinput::EventMask { deviceid: u16::from(Device::ALL_MASTER), mask };
        connection.xinput_xi_select_events(root, &[moves])?.check()?;
    } else {
        tracing::debug!("the place of the pointer is only told when something is drawn");
    }
    Ok((damage, region))
}

/// The areas to read for a region.
fn areas_of(region: &xfixes::FetchRegionReply, screen: &Rect<Screen>) -> Vec<Rect<Screen>> {
    let on_screen = |area: &Rectangle| {
        let (x, y) = (i32::from(area.x), i32::from(area.y));
        Rect::new(x, y, i32::from(area.width), i32::from(area.height)).intersection(screen)
    };
    if region.rectangles.len() > AREAS_MAX {
        return on_screen(&region.extents).into_iter().collect();
    }
    merged(region.rectangles.iter().filter_map(on_screen).collect(), READS_MAX)
}

fn encoded(picture: &Picture) -> DesktopResult<ScreenUpdateRegion> {
    Ok(ScreenUpdateRegion { region: picture.region, png: picture.to_png()? })
}

fn place_of(pointer: &QueryPointerReply) -> Point<Screen> {
    Point::new(i32::from(pointer.root_x), i32::from(pointer.root_y))
}

fn size_of(region: &Rect<Screen>) -> Size {
    let side = |length: i32| u16::try_from(length).unwrap_or(u16::MAX);
    Size { width: side(region.width), height: side(region.height) }
}
