//! Measures how old the picture of a live screen is: from the moment something is drawn until a viewer has decoded it.
//!
//! Argument: how often (40). Prints JSON, in milliseconds. The next drawing follows as soon as the one before was seen, so the limit of
//! the rate of updates is part of each age. `read` is a whole picture taken and decoded in the same run, to compare with.
#![expect(clippy::print_stdout, reason = "it prints its figures")]

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use deskhand_desktop::{Capture as _, Picture};
use deskhand_desktop_linux::{DesktopHandle, LinuxDesktop, LiveScreen, VirtualOptions};
use deskhand_ui::geometry::Size;
use serde_json::{Value, json};
use x11rb::{
    COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT,
    connection::Connection as _,
    protocol::xproto::{ChangeWindowAttributesAux, ConnectionExt as _, CreateWindowAux, Window, WindowClass},
    rust_connection::RustConnection,
};

/// The screen.
const SIZE: Size = Size { width: 1_280, height: 900 };

#[tokio::main]
async fn main() -> Result<()> {
    let times = std::env::args().nth(1).map_or(Ok(40), |text| text.parse::<u32>())?;
    let desktop =
        LinuxDesktop::start_virtual(VirtualOptions { size: SIZE, ..VirtualOptions::default() }).await?;
    let handle = DesktopHandle {
        keeper_pid: 0,
        socket: "none".into(),
        private_folder: desktop.private_folder().context("a virtual desktop has a folder")?.to_owned(),
        display: desktop.display_name().to_owned(),
        session_bus_address: String::new(),
        accessibility_address: String::new(),
    };
    // This process has one thread and no display of its own.
    let painter = Painter::connect(&handle)?;
    let mut screen = LiveScreen::open(&handle).await?;
    let begun = Instant::now();
    let first = screen.next().await?;
    ensure!(first.whole, "the first update is the whole screen");
    let first = begun.elapsed().as_secs_f64() * 1e3;
    let small = ages(&painter, &mut screen, times, [300, 200, 60, 24]).await?;
    let window = ages(&painter, &mut screen, times, [100, 100, 800, 600]).await?;
    let whole = ages(&painter, &mut screen, times, [0, 0, SIZE.width, SIZE.height]).await?;
    let mut read = Vec::new();
    for _ in 0..times {
        let begun = Instant::now();
        let picture = desktop.screen().await?;
        Picture::from_png(&picture.to_png()?, picture.region)?;
        read.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    desktop.shut_down().await;
    println!(
        "{}",
        json!({"first": first, "small": small, "window": window, "whole": whole, "read": summary(read)})
    );
    Ok(())
}

/// The ages of updates of an area that gets another colour.
async fn ages(painter: &Painter, screen: &mut LiveScreen, times: u32, area: [u16; 4]) -> Result<Value> {
    let window = painter.open(area)?;
    let mut ages = Vec::new();
    for step in 1..=times {
        let color = (step * 0x03_05_07) & 0xff_ff_ff;
        let rgb = [color >> 16, color >> 8, color].map(|channel| (channel & 0xff) as u8);
        let begun = Instant::now();
        painter.fill(window, color)?;
        'seen: loop {
            for part in screen.next().await?.parts {
                let picture = Picture::from_png(&part.png, part.region)?;
                if picture.rgb.ends_with(&rgb) {
                    break 'seen;
                }
            }
        }
        ages.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    painter.close(window)?;
    Ok(summary(ages))
}

fn summary(mut times: Vec<f64>) -> Value {
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times.get((times.len() * percent / 100).min(times.len().saturating_sub(1)));
    json!({"median": at(50), "p95": at(95), "most": at(100)})
}

/// A client that draws.
struct Painter {
    connection: RustConnection,
    root: Window,
}

impl Painter {
    fn connect(handle: &DesktopHandle) -> Result<Self> {
        use x11rb::rust_connection::DefaultStream;
        let file = std::fs::read(handle.private_folder.join("Xauthority"))?;
        let cookie = file.last_chunk::<16>().context("the cookie is too short")?.to_vec();
        let socket = format!("/tmp/.X11-unix/X{}", handle.display.trim_start_matches(':'));
        let (stream, _) = DefaultStream::from_unix_stream(std::os::unix::net::UnixStream::connect(socket)?)?;
        let name = b"MIT-MAGIC-COOKIE-1".to_vec();
        let connection = RustConnection::connect_to_stream_with_auth_info(stream, 0, name, cookie)?;
        let root = connection.setup().roots.first().context("a screen")?.root;
        Ok(Self { connection, root })
    }

    fn open(&self, [x, y, width, height]: [u16; 4]) -> Result<Window> {
        let window = self.connection.generate_id()?;
        let attributes = CreateWindowAux::new().override_redirect(1);
        let (x, y, class) = (i16::try_from(x)?, i16::try_from(y)?, WindowClass::INPUT_OUTPUT);
        let depth = COPY_DEPTH_FROM_PARENT;
        self.connection.create_window(
            depth,
            window,
            self.root,
            x,
            y,
            width,
            height,
            0,
            class,
            COPY_FROM_PARENT,
            &attributes,
        )?;
        self.connection.map_window(window)?.check()?;
        Ok(window)
    }

    fn fill(&self, window: Window, color: u32) -> Result<()> {
        let attributes = ChangeWindowAttributesAux::new().background_pixel(color);
        self.connection.change_window_attributes(window, &attributes)?;
        self.connection.clear_area(false, window, 0, 0, 0, 0)?;
        self.connection.flush()?;
        Ok(())
    }

    fn close(&self, window: Window) -> Result<()> {
        Ok(self.connection.destroy_window(window)?.check()?)
    }
}
