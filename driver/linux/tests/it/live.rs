//! The live screen beside a plain reading of the same screen.

use std::{
    collections::HashSet,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use deskhand_desktop::{Capture as _, DesktopError, IdleWait as _, Picture, QuietLimits};
use deskhand_desktop_linux::{DesktopHandle, InputMessage, LinuxDesktop, LiveInput, LiveScreen};
use deskhand_ui::geometry::{Rect, Screen};
use x11rb::{
    connection::Connection as _,
    protocol::{
        randr::ConnectionExt as _,
        xproto::{ConnectionExt as _, ImageFormat, Rectangle},
    },
};

use crate::{
    linux_x11::{BOUND, desktop, find_process, window_titled},
    programs::has_programs,
    x11_client::{Client, Place, connect},
};

/// How long it must be quiet to count as quiet: many times the interval of updates.
const QUIET: Duration = Duration::from_millis(500);

/// What a keeper writes down about a desktop.
pub(crate) fn handle_of(desktop: &LinuxDesktop) -> DesktopHandle {
    DesktopHandle {
        keeper_pid: 0,
        socket: "none".into(),
        private_folder: desktop.private_folder().unwrap().to_owned(),
        display: desktop.display_name().to_owned(),
        session_bus_address: String::new(),
        accessibility_address: String::new(),
    }
}

/// The screen by plain `GetImage`: width, and red, green and blue of all pixels.
fn pixels_of(desktop: &LinuxDesktop) -> (usize, Vec<u8>) {
    let (connection, root) = connect(desktop);
    let screen = connection.get_geometry(root).unwrap().reply().unwrap();
    let (width, height) = (screen.width, screen.height);
    let image =
        connection.get_image(ImageFormat::Z_PIXMAP, root, 0, 0, width, height, u32::MAX).unwrap().reply();
    let rgb = image.unwrap().data.chunks(4).flat_map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect();
    (usize::from(width), rgb)
}

/// A message as its table says.
struct Message {
    whole: bool,
    size: (usize, usize),
    pointer: (u16, u16),
    parts: Vec<(Rect<Screen>, Vec<u8>)>,
}

fn decoded(message: &[u8]) -> Message {
    let short = |at: usize| u16::from_le_bytes([message[at], message[at + 1]]);
    assert_eq!(message[0], 1, "the version");
    let mut parts = Vec::new();
    let mut at = 12;
    for _ in 0..short(10) {
        let [x, y, width, height] = [0, 2, 4, 6].map(|offset| i32::from(short(at + offset)));
        let length = u32::from_le_bytes(message[at + 8..at + 12].try_into().unwrap()) as usize;
        let file = &message[at + 12..at + 12 + length];
        let region = Rect::new(x, y, width, height);
        let picture = Picture::from_png(file, region).unwrap();
        assert_eq!(picture.region, region, "the file is as large as it says");
        parts.push((region, picture.rgb));
        at += 12 + length;
    }
    assert_eq!(at, message.len(), "nothing follows");
    let size = (usize::from(short(2)), usize::from(short(4)));
    Message { whole: message[1] & 1 == 1, size, pointer: (short(6), short(8)), parts }
}

/// A viewer as a page is one: it keeps a picture and puts the parts of each message into it.
struct Viewer {
    screen: LiveScreen,
    width: usize,
    rgb: Vec<u8>,
}

impl Viewer {
    /// Opens a screen and takes the first update.
    async fn open(desktop: &LinuxDesktop) -> Self {
        let screen = LiveScreen::open(&handle_of(desktop)).await.unwrap();
        let mut viewer = Self { screen, width: 0, rgb: Vec::new() };
        let first = viewer.next().await;
        assert!(first.whole);
        assert_eq!((first.parts.len(), first.parts[0].0), (1, Rect::new(0, 0, 1024, 768)));
        viewer
    }

    async fn next(&mut self) -> Message {
        let update = tokio::time::timeout(BOUND, self.screen.next()).await.expect("an update").unwrap();
        let message = decoded(&update.to_message());
        self.take(&message);
        message
    }

    fn take(&mut self, message: &Message) {
        if message.whole {
            self.width = message.size.0;
            self.rgb = vec![0; message.size.0 * message.size.1 * 3];
        }
        for (region, rgb) in &message.parts {
            let [x, y, width, _] = <[i32; 4]>::from(*region).map(|length| usize::try_from(length).unwrap());
            for (row, pixels) in rgb.chunks(width * 3).enumerate() {
                let at = ((y + row) * self.width + x) * 3;
                self.rgb[at..at + width * 3].copy_from_slice(pixels);
            }
        }
    }

    /// Takes updates until nothing comes any more; returns how many there were.
    async fn until_quiet(&mut self) -> usize {
        let deadline = Instant::now() + BOUND;
        let mut count = 0;
        while let Ok(update) = tokio::time::timeout(QUIET, self.screen.next()).await {
            assert!(Instant::now() < deadline, "something always moves");
            self.take(&decoded(&update.unwrap().to_message()));
            count += 1;
        }
        count
    }

    /// Returns `true` if it shows what a plain reading of the screen shows.
    fn agrees(&self, desktop: &LinuxDesktop) -> bool {
        pixels_of(desktop) == (self.width, self.rgb.clone())
    }
}

/// A desktop with a quiet window, where it is, and a viewer who has seen everything.
async fn watched() -> Option<(LinuxDesktop, Client, Rect<Screen>, Viewer)> {
    if !has_programs(&["mousepad", "soffice"]) {
        return None;
    }
    let desktop = desktop().await;
    let client = Client::open(&desktop, "Painted", Place { color: 0x20_40_60, ..Place::default() });
    let place = window_titled(&desktop, "Painted").await.bounds;
    client.wait_until_drawn();
    let mut viewer = Viewer::open(&desktop).await;
    viewer.until_quiet().await;
    assert!(viewer.agrees(&desktop));
    Some((desktop, client, place, viewer))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_drawn_is_in_the_next_update_and_nothing_else_is() {
    let Some((desktop, client, place, mut viewer)) = watched().await else { return };
    for (color, rgb) in [(0xff_80_01, [0xff, 0x80, 0x01]), (0x00_00_ff, [0, 0, 0xff])] {
        client.fill(Rectangle { x: 11, y: 7, width: 50, height: 33 }, color);
        let message = viewer.next().await;
        assert!(!message.whole);
        let areas: Vec<_> = message.parts.iter().map(|(region, _)| *region).collect();
        assert_eq!(areas, [Rect::new(place.x + 11, place.y + 7, 50, 33)]);
        assert!(message.parts[0].1.chunks(3).all(|pixel| pixel == rgb));
        assert!(viewer.agrees(&desktop));
    }
    // Drawn again in the same colour: damage, but no change.
    client.fill(Rectangle { x: 11, y: 7, width: 50, height: 33 }, 0x00_00_ff);
    assert_eq!(viewer.until_quiet().await, 0);
    // Two places far from each other.
    client.fill(Rectangle { x: 0, y: 0, width: 3, height: 3 }, 0x11_22_33);
    client.fill(Rectangle { x: 190, y: 90, width: 4, height: 5 }, 0x11_22_33);
    let mut areas = HashSet::new();
    while areas.len() < 2 {
        areas.extend(viewer.next().await.parts.into_iter().map(|(region, _)| region));
    }
    let expected = [Rect::new(place.x, place.y, 3, 3), Rect::new(place.x + 190, place.y + 90, 4, 5)];
    assert_eq!(areas, HashSet::from(expected));
    assert!(viewer.agrees(&desktop));
    desktop.shut_down().await;
}

/// The processor time of the threads of viewers, in ticks, as the kernel counts it.
fn ticks_of_viewers() -> u64 {
    let mut ticks = 0;
    for thread in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        if let Some((head, rest)) = stat.rsplit_once(')')
            && head.contains("(live-screen")
        {
            // After the name: the state, then ten others, then the time in the program and in the kernel.
            let fields: Vec<&str> = rest.split_whitespace().collect();
            ticks += fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        }
    }
    ticks
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sent_and_nothing_computed_while_nothing_moves() {
    const WATCHED: Duration = Duration::from_secs(2);
    let Some((desktop, client, _, mut viewer)) = watched().await else { return };
    let before = ticks_of_viewers();
    let nothing = tokio::time::timeout(WATCHED, viewer.screen.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    let idle = ticks_of_viewers() - before;
    assert!(idle <= 4, "{idle} hundredths of a second in {WATCHED:?}");
    // The same counter moves when there is something to do.
    let area = Rectangle { x: 0, y: 0, width: 200, height: 100 };
    let deadline = Instant::now() + BOUND;
    let before = ticks_of_viewers();
    for color in 1.. {
        client.fill(area, color);
        viewer.next().await;
        if ticks_of_viewers() > before + 4 {
            break;
        }
        assert!(Instant::now() < deadline, "the counter does not count");
    }
    desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_gets_everything_in_one_update() {
    let Some((desktop, client, place, mut viewer)) = watched().await else { return };
    for step in 0..60_i16 {
        client
            .fill(Rectangle { x: step * 3, y: step, width: 20, height: 20 }, u32::from(step as u16) * 99_991);
    }
    let message = viewer.next().await;
    assert!(message.parts.len() <= 12, "{}", message.parts.len());
    for (region, _) in &message.parts {
        assert_eq!(region.intersection(&place), Some(*region), "no more than was drawn");
    }
    assert!(viewer.agrees(&desktop), "one update has all of it");
    assert_eq!(viewer.until_quiet().await, 0, "nothing was queued");
    desktop.shut_down().await;
}

/// Draws without a break until it is told to stop.
fn busy(client: Client) -> (Arc<AtomicBool>, std::thread::JoinHandle<Client>) {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let drawing = std::thread::spawn(move || {
        let mut color = 0;
        while !stopped.load(Ordering::Relaxed) {
            color = (color + 0x01_03_05) & 0xff_ff_ff;
            client.fill(Rectangle { x: 20, y: 20, width: 90, height: 60 }, color);
        }
        client
    });
    (stop, drawing)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_always_changes_costs_a_bounded_number_of_updates() {
    let Some((desktop, client, _, mut viewer)) = watched().await else { return };
    let (stop, drawing) = busy(client);
    let begun = Instant::now();
    let mut count = 0;
    while begun.elapsed() < Duration::from_secs(1) {
        viewer.next().await;
        count += 1;
    }
    let most = begun.elapsed().as_millis() / 40 + 2;
    assert!((1..=most).contains(&count), "{count} updates in {:?}", begun.elapsed());
    stop.store(true, Ordering::Relaxed);
    let _client = drawing.join().unwrap();
    viewer.until_quiet().await;
    assert!(viewer.agrees(&desktop), "the last one is the last that was drawn");
    desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_wait_loses_nothing() {
    let Some((desktop, client, _, mut viewer)) = watched().await else { return };
    let (stop, drawing) = busy(client);
    let mut taken = 0;
    let deadline = Instant::now() + BOUND;
    while taken < 10 {
        assert!(Instant::now() < deadline);
        // Most of these end before there is an update.
        let update = tokio::time::timeout(Duration::from_millis(3), viewer.screen.next()).await;
        if let Ok(update) = update {
            viewer.take(&decoded(&update.unwrap().to_message()));
            taken += 1;
        }
    }
    stop.store(true, Ordering::Relaxed);
    let _client = drawing.join().unwrap();
    viewer.until_quiet().await;
    assert!(viewer.agrees(&desktop));
    desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_place_of_the_pointer_is_told() {
    let Some((desktop, _client, _, mut viewer)) = watched().await else { return };
    let input = LiveInput::open(&handle_of(&desktop)).await.unwrap();
    for (x, y) in [(700, 500), (701, 500), (1023, 767)] {
        input.send(InputMessage::Move { x, y }).await.unwrap();
        let (connection, root) = connect(&desktop);
        let truth = connection.query_pointer(root).unwrap().reply().unwrap();
        assert_eq!((i32::from(truth.root_x), i32::from(truth.root_y)), (x, y));
        let place = (u16::try_from(x).unwrap(), u16::try_from(y).unwrap());
        while viewer.next().await.pointer != place {}
    }
    // There again: no news.
    input.send(InputMessage::Move { x: 1023, y: 767 }).await.unwrap();
    assert_eq!(viewer.until_quiet().await, 0);
    desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_size_of_the_screen_comes_as_a_whole_picture() {
    let Some((desktop, client, _, mut viewer)) = watched().await else { return };
    let (connection, root) = connect(&desktop);
    let resources = connection.randr_get_screen_resources(root).unwrap().reply().unwrap();
    for crtc in resources.crtcs {
        let time = resources.config_timestamp;
        let rotation = x11rb::protocol::randr::Rotation::ROTATE0;
        let off = connection.randr_set_crtc_config(crtc, time, time, 0, 0, 0, rotation, &[]).unwrap();
        off.reply().unwrap();
    }
    connection.randr_set_screen_size(root, 800, 600, 200, 150).unwrap().check().unwrap();
    connection.flush().unwrap();
    let mut message = viewer.next().await;
    while message.size != (800, 600) {
        message = viewer.next().await;
    }
    assert!(message.whole);
    assert_eq!(message.parts[0].0, Rect::new(0, 0, 800, 600));
    viewer.until_quiet().await;
    assert_eq!(viewer.screen.size().to_string(), "800x600");
    client.fill(Rectangle { x: 0, y: 0, width: 5, height: 5 }, 0xff_ff_ff);
    assert!(!viewer.next().await.whole);
    assert!(viewer.agrees(&desktop));
    desktop.shut_down().await;
}

/// Two viewers have the same pictures, and the session hears and settles as without them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_viewers_and_the_session_do_not_disturb_each_other() {
    let Some((desktop, client, place, mut one)) = watched().await else { return };
    let mut other = Viewer::open(&desktop).await;
    other.until_quiet().await;
    let watch = desktop.watch(None).await.unwrap();
    client.fill(Rectangle { x: 30, y: 30, width: 10, height: 10 }, 0x12_34_56);
    let (first, second) = tokio::join!(one.next(), other.next());
    for message in [first, second] {
        assert_eq!(message.parts[0].0, Rect::new(place.x + 30, place.y + 30, 10, 10));
    }
    assert!(one.agrees(&desktop) && other.agrees(&desktop));
    let limits = QuietLimits { quiet: Duration::from_millis(200), ..QuietLimits::default() };
    let settled = desktop.settle(watch, limits).await.unwrap();
    assert!(settled.damaged && !settled.timed_out, "{settled:?}");
    // Looking is not drawing: nothing happens for the session while viewers come, look and go.
    let watch = desktop.watch(None).await.unwrap();
    let third = Viewer::open(&desktop).await;
    drop((third, other));
    let settled = desktop.settle(watch, limits).await.unwrap();
    assert!(!settled.damaged && !settled.timed_out, "{settled:?}");
    assert!(one.agrees(&desktop));
    desktop.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_the_display_is_the_end_of_its_viewers() {
    let Some((desktop, _client, _, mut viewer)) = watched().await else { return };
    let handle = handle_of(&desktop);
    let input = LiveInput::open(&handle).await.unwrap();
    let server = find_process(desktop.private_folder().unwrap(), "Xvfb");
    let is_gone = |error: &DesktopError| matches!(error, DesktopError::Gone { .. });
    let (waited, ()) = tokio::join!(tokio::time::timeout(BOUND, viewer.screen.next()), async {
        assert!(Command::new("kill").args(["-KILL", &server]).status().unwrap().success());
    });
    let error = waited.expect("it ends").unwrap_err();
    assert!(is_gone(&error), "{error:?}");
    let again = viewer.screen.next().await.unwrap_err();
    assert!(is_gone(&again), "{again:?}");
    let input = input.send(InputMessage::Move { x: 1, y: 1 }).await.unwrap_err();
    assert!(is_gone(&input), "{input:?}");
    assert!(LiveScreen::open(&handle).await.is_err());
    assert!(desktop.screen().await.is_err());
    desktop.shut_down().await;
    let error = LiveScreen::open(&handle).await.unwrap_err().chain();
    assert!(error.contains("cookie"), "{error}");
}
