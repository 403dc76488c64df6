//! Smaller pictures.

use deskhand_core::geometry::Rect;

use super::Picture;

impl Picture {
    /// The picture at a `factor`-th of its size; each pixel is the mean of those that it stands for. What is left
    /// over at the right and lower edges is cut off; a factor of 0 or 1 changes nothing.
    ///
    /// The region keeps its origin and gets the new size: it no longer says which part of the screen is shown.
    #[must_use]
    pub fn shrunk(&self, factor: u32) -> Self {
        let (width, height) = (self.width() / factor.max(1), self.height() / factor.max(1));
        if factor < 2 || width == 0 || height == 0 {
            return self.clone();
        }
        let size = |length: u32| usize::try_from(length).unwrap_or(0);
        let (factor, stride) = (size(factor), size(self.width()) * 3);
        let mut rgb = Vec::with_capacity(size(width) * size(height) * 3);
        // A band of rows becomes one row: sums first, then one division a channel.
        let mut sums = vec![0_u32; size(width) * 3];
        for band in self.rgb.chunks_exact(stride * factor) {
            sums.fill(0);
            for row in band.chunks_exact(stride) {
                for (pixels, sum) in row.chunks_exact(3 * factor).zip(sums.chunks_exact_mut(3)) {
                    for pixel in pixels.chunks_exact(3) {
                        for (channel, total) in pixel.iter().zip(sum.iter_mut()) {
                            *total += u32::from(*channel);
                        }
                    }
                }
            }
            let count = u32::try_from(factor * factor).unwrap_or(u32::MAX);
            rgb.extend(sums.iter().map(|sum| u8::try_from(sum / count).unwrap_or(u8::MAX)));
        }
        let side = |length: u32| i32::try_from(length).unwrap_or(0);
        Self { region: Rect::new(self.region.x, self.region.y, side(width), side(height)), rgb }
    }
}
