//! Whether a window shows anything yet: the X server gives its picture, and one colour is nothing. Nothing here asks the product.

use std::{collections::BTreeMap, fs, os::unix::net::UnixStream, path::Path};

use anyhow::{Context as _, Result};
use x11rb::{
    connection::Connection as _,
    protocol::xproto::{ConnectionExt as _, ImageFormat, Window},
    rust_connection::{DefaultStream, RustConnection},
};

/// The bytes of a pixel in a picture of the server, of which the last one is no colour.
const PIXEL: usize = 4;

/// A connection to an X server, for pictures.
pub(super) struct Eye {
    connection: RustConnection,
    root: Window,
    /// The width and height of the screen.
    screen: (i32, i32),
}

impl Eye {
    /// Connects with the variables of a program on the desktop.
    pub(super) fn of(variables: &BTreeMap<String, String>) -> Result<Self> {
        let display = variables.get("DISPLAY").context("find the display")?;
        let number = display.trim_start_matches(':').split('.').next().unwrap_or_default();
        let cookies = variables.get("XAUTHORITY").context("find the cookie of the display")?;
        let (name, cookie) = cookie(&fs::read(Path::new(cookies)).context("read the cookie of the display")?)
            .context("parse the cookie of the display")?;
        let socket =
            UnixStream::connect(format!("/tmp/.X11-unix/X{number}")).context("reach the X server")?;
        let (stream, _) = DefaultStream::from_unix_stream(socket).context("reach the X server")?;
        let connection = RustConnection::connect_to_stream_with_auth_info(stream, 0, name, cookie)
            .context("connect to the X server")?;
        let screen = connection.setup().roots.first().context("find the screen")?;
        let (root, screen) =
            (screen.root, (i32::from(screen.width_in_pixels), i32::from(screen.height_in_pixels)));
        Ok(Self { connection, root, screen })
    }

    /// Whether a window shows more than one colour; `None` if it is not there. What lies in front of it counts, too.
    pub(super) fn is_drawn(&self, window: Window) -> Option<bool> {
        let size = self.connection.get_geometry(window).ok()?.reply().ok()?;
        let at = self.connection.translate_coordinates(window, self.root, 0, 0).ok()?.reply().ok()?;
        let within = |start: i16, length: u16, screen: i32| {
            let (start, end) = (i32::from(start), i32::from(start) + i32::from(length));
            let (start, end) = (start.clamp(0, screen), end.clamp(0, screen));
            Some((i16::try_from(start).ok()?, u16::try_from(end - start).ok()?))
        };
        let (x, width) = within(at.dst_x, size.width, self.screen.0)?;
        let (y, height) = within(at.dst_y, size.height, self.screen.1)?;
        if width == 0 || height == 0 {
            return Some(false);
        }
        let format = ImageFormat::Z_PIXMAP;
        let image =
            self.connection.get_image(format, self.root, x, y, width, height, !0).ok()?.reply().ok()?;
        Some(has_colours(&image.data))
    }
}

/// Returns `true` if pixels have more than one colour.
fn has_colours(pixels: &[u8]) -> bool {
    let mut colours = pixels.chunks_exact(PIXEL).filter_map(|pixel| pixel.get(..PIXEL - 1));
    let first = colours.next();
    colours.any(|colour| Some(colour) != first)
}

/// The name and the data of the first cookie in a file of `xauth`.
fn cookie(file: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    /// What stands before its fields: the family of the address.
    const FAMILY: usize = 2;
    let mut rest = file.get(FAMILY..)?;
    let mut field = || {
        let length = usize::from(u16::from_be_bytes(rest.get(..2)?.try_into().ok()?));
        let value = rest.get(2..2 + length)?.to_vec();
        rest = rest.get(2 + length..)?;
        Some(value)
    };
    let (_address, _display) = (field()?, field()?);
    Some((field()?, field()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_colour_is_nothing_drawn() {
        // The last byte of a pixel is anything.
        assert!(!has_colours(&[9, 8, 7, 0, 9, 8, 7, 1, 9, 8, 7, 255]));
        assert!(has_colours(&[9, 8, 7, 0, 9, 8, 7, 0, 9, 9, 7, 0]));
        assert!(!has_colours(&[]));
    }

    #[test]
    fn a_cookie_is_read_from_the_file_of_xauth() {
        let file = b"\x01\x00\x00\x04host\x00\x0242\x00\x12MIT-MAGIC-COOKIE-1\x00\x03\x01\x02\x03";
        assert_eq!(cookie(file), Some((b"MIT-MAGIC-COOKIE-1".to_vec(), vec![1, 2, 3])));
        assert_eq!(cookie(b"\x01\x00\x00\x04ho"), None);
    }
}
