//! Screenshots by MIT-SHM, without mapping memory ourselves: the X server writes into an anonymous file that both
//! sides hold open, and we read from it. Falls back to plain `GetImage` where file descriptors cannot be passed.

use std::{fs::File, os::unix::fs::FileExt};

use deskhand_desktop::{DesktopError, Picture};
use deskhand_ui::geometry::{Rect, Screen};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use x11rb::{
    connection::{Connection, RequestConnection},
    protocol::{
        shm::{self, ConnectionExt as _},
        xproto::{ConnectionExt as _, ImageFormat, ImageOrder},
    },
    rust_connection::RustConnection,
};

use super::fault::WorkResult;

/// Takes screenshots.
#[derive(Default)]
pub(crate) struct X11Capture {
    memory: SharedMemory,
    /// The buffer that screenshots are read into, reused for the next one.
    pixels: Vec<u8>,
}

/// The memory shared with the X server.
#[derive(Default)]
enum SharedMemory {
    /// No screenshot was taken yet.
    #[default]
    New,
    /// An anonymous file that the X server has mapped too.
    Shared {
        /// Its id on the X server.
        segment: shm::Seg,
        /// The file.
        file: File,
        /// Its size.
        bytes: usize,
    },
    /// This server does not support shared memory over file descriptors.
    Plain,
}

impl X11Capture {
    /// A screenshot of the screen with the root window `root`, or of a part of it.
    pub(crate) fn picture(
        &mut self,
        connection: &RustConnection,
        root: u32,
        region: Option<Rect<Screen>>,
    ) -> WorkResult<Picture> {
        let geometry = connection.get_geometry(root)?.reply()?;
        let screen = Rect::new(0, 0, i32::from(geometry.width), i32::from(geometry.height));
        let region = match region {
            None => screen,
            Some(wanted) => screen.intersection(&wanted).ok_or_else(|| {
                DesktopError::failed(
                    "take a screenshot of a region",
                    format!(
                        "the region {}x{} at {},{} lies outside the {}x{} screen",
                        wanted.width, wanted.height, wanted.x, wanted.y, screen.width, screen.height
                    ),
                )
            })?,
        };
        check_pixel_layout(connection, geometry.depth)?;
        // Reusing memory is faster than faulting in new pages, which would cost more than the screenshot.
        let mut pixels = std::mem::take(&mut self.pixels);
        let rgb = self.read_pixels(connection, root, region, &mut pixels).map(|()| rgb_of_bgrx(&pixels));
        self.pixels = pixels;
        Ok(Picture { region, rgb: rgb? })
    }

    /// Reads the pixels of a region into `pixels`.
    fn read_pixels(
        &mut self,
        connection: &RustConnection,
        root: u32,
        region: Rect<Screen>,
        pixels: &mut Vec<u8>,
    ) -> WorkResult<()> {
        let (x, y) = (short(region.x), short(region.y));
        let (width, height) = (side(region.width), side(region.height));
        let bytes = usize::from(width) * usize::from(height) * 4;
        self.share_memory(connection, bytes)?;
        if let SharedMemory::Shared { segment, file, .. } = &self.memory {
            let format = ImageFormat::Z_PIXMAP.into();
            connection.shm_get_image(root, x, y, width, height, u32::MAX, format, *segment, 0)?.reply()?;
            pixels.resize(bytes, 0);
            file.read_exact_at(pixels, 0)
                .map_err(|error| DesktopError::failed("read the screenshot from shared memory", error))?;
            return Ok(());
        }
        let image =
            connection.get_image(ImageFormat::Z_PIXMAP, root, x, y, width, height, u32::MAX)?.reply()?;
        *pixels = image.data;
        Ok(())
    }

    /// Makes sure that there is a shared segment of at least `bytes`, unless the server does not support any.
    fn share_memory(&mut self, connection: &RustConnection, bytes: usize) -> WorkResult<()> {
        match &self.memory {
            SharedMemory::Plain => return Ok(()),
            SharedMemory::Shared { bytes: have, .. } if *have >= bytes => return Ok(()),
            SharedMemory::Shared { segment, .. } => {
                connection.shm_detach(*segment)?;
            }
            SharedMemory::New => {}
        }
        self.memory = new_segment(connection, bytes).unwrap_or_else(|fault| {
            tracing::debug!(?fault, "no shared memory with the X server; screenshots take longer");
            SharedMemory::Plain
        });
        Ok(())
    }
}

/// Requires four bytes a pixel, blue first, as all current X servers have.
fn check_pixel_layout(connection: &RustConnection, depth: u8) -> WorkResult<()> {
    let setup = connection.setup();
    let wide = setup.pixmap_formats.iter().any(|format| format.depth == depth && format.bits_per_pixel == 32);
    if wide && setup.image_byte_order == ImageOrder::LSB_FIRST {
        return Ok(());
    }
    let what =
        format!("the screen depth is {depth} bits; start the X server with 24 (`-screen 0 WIDTHxHEIGHTx24`)");
    Err(DesktopError::failed("take a screenshot", what).into())
}

fn new_segment(connection: &RustConnection, bytes: usize) -> WorkResult<SharedMemory> {
    let unsupported = |what: String| DesktopError::failed("share memory with the X server", what);
    if connection.extension_information(shm::X11_EXTENSION_NAME)?.is_none() {
        return Err(unsupported("it lacks the MIT-SHM extension".to_owned()).into());
    }
    let version = connection.shm_query_version()?.reply()?;
    if (version.major_version, version.minor_version) < (1, 2) {
        return Err(unsupported("its MIT-SHM extension is older than 1.2".to_owned()).into());
    }
    let create = || -> std::io::Result<File> {
        let memory = memfd_create("deskhand-capture", MemfdFlags::CLOEXEC)?;
        ftruncate(&memory, bytes as u64)?;
        Ok(File::from(memory))
    };
    let file = create().map_err(|error| unsupported(error.to_string()))?;
    let passed = file.try_clone().map_err(|error| unsupported(error.to_string()))?;
    let segment = connection.generate_id()?;
    let passed = std::os::fd::OwnedFd::from(passed);
    connection.shm_attach_fd(segment, passed, false)?.check()?;
    Ok(SharedMemory::Shared { segment, file, bytes })
}

/// Blue, green, red, unused → red, green, blue.
fn rgb_of_bgrx(pixels: &[u8]) -> Vec<u8> {
    let mut rgb = vec![0; pixels.len() / 4 * 3];
    for (to, from) in rgb.chunks_exact_mut(3).zip(pixels.chunks_exact(4)) {
        if let ([red, green, blue], [from_blue, from_green, from_red, _]) = (to, from) {
            (*red, *green, *blue) = (*from_red, *from_green, *from_blue);
        }
    }
    rgb
}

fn short(value: i32) -> i16 {
    i16::try_from(value).unwrap_or(i16::MAX)
}

fn side(value: i32) -> u16 {
    u16::try_from(value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_reordered_to_rgb() {
        assert_eq!(rgb_of_bgrx(&[1, 2, 3, 255, 4, 5, 6, 0]), [3, 2, 1, 6, 5, 4]);
        assert!(rgb_of_bgrx(&[]).is_empty());
    }
}
