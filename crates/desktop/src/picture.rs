//! Pixels, and their way into a file.

use deskhand_core::geometry::{Rect, Screen};

use crate::{DesktopError, DesktopResult};

/// A picture of a part of the screen: RGB, 8 bits each, rows from the top without padding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// What it shows.
    pub region: Rect<Screen>,
    /// `3 * width * height` bytes.
    pub rgb: Vec<u8>,
}

impl Picture {
    /// The picture as a PNG file, compressed fast rather than small.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] when the pixels do not fit the region.
    pub fn to_png(&self) -> DesktopResult<Vec<u8>> {
        let error = |source: png::EncodingError| DesktopError::failed("encode a picture", source);
        let mut file = Vec::with_capacity(self.rgb.len() / 16);
        let side = |length: i32| u32::try_from(length).unwrap_or(0);
        let mut encoder = png::Encoder::new(&mut file, side(self.region.width), side(self.region.height));
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let mut writer = encoder.write_header().map_err(error)?;
        writer.write_image_data(&self.rgb).map_err(error)?;
        writer.finish().map_err(error)?;
        Ok(file)
    }
}
