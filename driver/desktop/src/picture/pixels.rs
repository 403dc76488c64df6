//! A picture, with PNG encoding and decoding.

use deskhand_ui::geometry::{Image, Rect, Screen};

use crate::{DesktopError, DesktopResult};

/// A picture of a region of the screen: RGB, 8 bits each, rows from the top without padding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The region that it shows.
    pub region: Rect<Screen>,
    /// `3 * width * height` bytes.
    pub rgb: Vec<u8>,
}

impl Picture {
    /// The most pixels of a file that is decoded: eight 4K screens.
    pub(super) const PIXELS_MAX: u64 = 8 * 3840 * 2160;

    /// Pixels across.
    pub fn width(&self) -> u32 {
        u32::try_from(self.region.width).unwrap_or(0)
    }

    /// Pixels down.
    pub fn height(&self) -> u32 {
        u32::try_from(self.region.height).unwrap_or(0)
    }

    /// The picture as a PNG file, optimised for speed.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if the pixels do not fit the region.
    pub fn to_png(&self) -> DesktopResult<Vec<u8>> {
        // Rows with a filter of their own each take six times as long, for files 1 to 5 % smaller.
        self.encode(png::Compression::Fast, png::Filter::Paeth)
    }

    /// The picture as a PNG file, optimised for size, to be sent to a model.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if the pixels do not fit the region.
    pub fn to_small_png(&self) -> DesktopResult<Vec<u8>> {
        self.encode(png::Compression::High, png::Filter::Adaptive)
    }

    fn encode(&self, compression: png::Compression, filter: png::Filter) -> DesktopResult<Vec<u8>> {
        let error = |source: png::EncodingError| DesktopError::failed("encode a picture", source);
        let mut file = Vec::with_capacity(self.rgb.len() / 16);
        let mut encoder = png::Encoder::new(&mut file, self.width(), self.height());
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(compression);
        encoder.set_filter(filter);
        let mut writer = encoder.write_header().map_err(error)?;
        writer.write_image_data(&self.rgb).map_err(error)?;
        writer.finish().map_err(error)?;
        Ok(file)
    }

    /// Decodes a PNG file. `region` is the part of the screen that it shows; its size is taken from the file.
    ///
    /// # Errors
    /// [`DesktopError::Failed`] if it is not a PNG file of 8 bits a channel, or unreasonably large.
    pub fn from_png(file: &[u8], region: Rect<Screen>) -> DesktopResult<Self> {
        let error = |source: png::DecodingError| DesktopError::failed("decode a picture", source);
        let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(error)?;
        let (width, height) = (reader.info().width, reader.info().height);
        if u64::from(width) * u64::from(height) > Self::PIXELS_MAX {
            return Err(DesktopError::failed("decode a picture", format!("{width}x{height} is too large")));
        }
        let size = reader.output_buffer_size();
        let mut bytes = vec![0; size.unwrap_or(0)];
        let frame = reader.next_frame(&mut bytes).map_err(error)?;
        bytes.truncate(frame.buffer_size());
        let rgb = match frame.color_type {
            png::ColorType::Rgb => bytes,
            png::ColorType::Rgba => {
                bytes.chunks_exact(4).flat_map(|pixel| pixel.iter().copied().take(3)).collect()
            }
            png::ColorType::Grayscale => bytes.iter().flat_map(|grey| [*grey; 3]).collect(),
            png::ColorType::GrayscaleAlpha => {
                bytes.chunks_exact(2).flat_map(|pixel| [pixel.first().copied().unwrap_or(0); 3]).collect()
            }
            png::ColorType::Indexed => {
                return Err(DesktopError::failed("decode a picture", "its palette was not applied"));
            }
        };
        let side = |length: u32| i32::try_from(length).unwrap_or(0);
        Ok(Self { region: Rect::new(region.x, region.y, side(width), side(height)), rgb })
    }

    /// The bounds in this picture of an area on the screen, clipped to the picture.
    pub fn place(&self, bounds: &Rect<Screen>) -> Option<Rect<Image>> {
        Some(bounds.intersection(&self.region)?.relative_to(&self.region.origin()))
    }
}
