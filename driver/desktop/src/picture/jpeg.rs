//! Pictures as JPEG files: much smaller but lossy, for models that receive many of them.

use deskhand_ui::geometry::{Rect, Screen};
use image::{
    ExtendedColorType, ImageDecoder as _, ImageEncoder as _,
    codecs::jpeg::{JpegDecoder, JpegEncoder},
};

use super::Picture;
use crate::{DesktopError, DesktopResult};

impl Picture {
    /// The picture as a JPEG file with a quality from 1 to 100; other values are clamped.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if the pixels do not fit the region, or a side exceeds the limit of the format.
    pub fn to_jpeg(&self, quality: u8) -> DesktopResult<Vec<u8>> {
        let pixels = u64::from(self.width()) * u64::from(self.height()) * 3;
        if u64::try_from(self.rgb.len()) != Ok(pixels) {
            return Err(DesktopError::failed("encode a picture", "its pixels do not fit its size"));
        }
        let mut file = Vec::with_capacity(self.rgb.len() / 16);
        JpegEncoder::new_with_quality(&mut file, quality.clamp(1, 100))
            .write_image(&self.rgb, self.width(), self.height(), ExtendedColorType::Rgb8)
            .map_err(|source| DesktopError::failed("encode a picture", source))?;
        Ok(file)
    }

    /// Decodes a PNG or JPEG file. `region` is the part of the screen that it shows; its size is taken from the file.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if it is neither, or unreasonably large.
    pub fn from_file(file: &[u8], region: Rect<Screen>) -> DesktopResult<Self> {
        const JPEG: &[u8] = &[0xff, 0xd8, 0xff];
        if !file.starts_with(JPEG) {
            return Self::from_png(file, region);
        }
        let error = |source: image::ImageError| DesktopError::failed("decode a picture", source);
        let decoder = JpegDecoder::new(std::io::Cursor::new(file)).map_err(error)?;
        let (width, height) = decoder.dimensions();
        if u64::from(width) * u64::from(height) > Self::PIXELS_MAX {
            return Err(DesktopError::failed("decode a picture", format!("{width}x{height} is too large")));
        }
        let picture = image::DynamicImage::from_decoder(decoder).map_err(error)?;
        let side = |length: u32| i32::try_from(length).unwrap_or(0);
        let region = Rect::new(region.x, region.y, side(width), side(height));
        Ok(Self { region, rgb: picture.into_rgb8().into_raw() })
    }
}
