//! Pictures that fit a size.

use deskhand_core::geometry::Rect;

use super::Picture;

impl Picture {
    /// The picture with no side longer than `side_max` pixels; each pixel is the mean of those that it stands for. A
    /// smaller picture is returned as it is.
    ///
    /// The region keeps its origin and gets the new size: it no longer says which part of the screen is shown.
    #[must_use]
    pub fn fitted(self, side_max: u32) -> Self {
        let (width, height) = (self.width(), self.height());
        let longest = width.max(height);
        if longest <= side_max || side_max == 0 {
            return self;
        }
        let scaled = |side: u32| (u64::from(side) * u64::from(side_max) / u64::from(longest)).max(1);
        let index = |number: u64| usize::try_from(number).unwrap_or(0);
        let (to_width, to_height) = (index(scaled(width)), index(scaled(height)));
        let (width, height) = (index(width.into()), index(height.into()));
        // Which source columns each target column stands for; at least one.
        let span = |place: usize, from: usize, to: usize| {
            let start = place * from / to;
            (start, ((place + 1) * from / to).max(start + 1))
        };
        let columns: Vec<(usize, usize)> = (0..to_width).map(|x| span(x, width, to_width)).collect();
        let mut rgb = Vec::with_capacity(to_width * to_height * 3);
        let mut sums = vec![[0_u32; 3]; width];
        for y in 0..to_height {
            let (top, bottom) = span(y, height, to_height);
            let rows = self.rgb.get(top * width * 3..bottom * width * 3).unwrap_or_default();
            sums.fill([0; 3]);
            for row in rows.chunks_exact(width * 3) {
                for (sum, pixel) in sums.iter_mut().zip(row.chunks_exact(3)) {
                    for (total, channel) in sum.iter_mut().zip(pixel) {
                        *total += u32::from(*channel);
                    }
                }
            }
            for (left, right) in &columns {
                let cells = sums.get(*left..*right).unwrap_or_default();
                let count = u32::try_from(cells.len() * (bottom - top)).unwrap_or(1).max(1);
                let mut total = [0_u32; 3];
                for cell in cells {
                    for (sum, part) in total.iter_mut().zip(cell) {
                        *sum += part;
                    }
                }
                rgb.extend(total.iter().map(|sum| u8::try_from(sum / count).unwrap_or(u8::MAX)));
            }
        }
        let side = |length: usize| i32::try_from(length).unwrap_or(0);
        Self { region: Rect::new(self.region.x, self.region.y, side(to_width), side(to_height)), rgb }
    }
}
