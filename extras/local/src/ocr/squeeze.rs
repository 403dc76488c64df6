//! Pictures without what is blank: runs of equal rows, then of equal columns, are shortened, because most of many windows is empty,
//! and the detector takes as long for that as for text.

use image::{Rgb, RgbImage};

use super::{
    boxes::PixelRect,
    sides::{sides, u32_of},
};

/// Number of pixels retained at each end of a run: pixels near text help to find it.
const KEPT: usize = 16;

/// A shortened picture.
pub(crate) struct SqueezedPicture {
    pub(crate) picture: RgbImage,
    /// The original rows and columns.
    rows: Vec<usize>,
    columns: Vec<usize>,
}

impl SqueezedPicture {
    pub(crate) fn of(picture: &RgbImage) -> Self {
        let (width, height) = sides(picture);
        let stride = width.max(1) * 3;
        let lines: Vec<&[u8]> = picture.as_raw().chunks_exact(stride).collect();
        let rows = kept(height, |row| lines.get(row) == lines.get(row - 1));
        let mut differs = vec![false; width];
        for line in rows.iter().filter_map(|row| lines.get(*row)) {
            let pairs = line.chunks_exact(3).zip(line.chunks_exact(3).skip(1));
            for (differs, (one, other)) in differs.iter_mut().skip(1).zip(pairs) {
                *differs |= one != other;
            }
        }
        let columns = kept(width, |column| differs.get(column) == Some(&false));
        let pixel = |x: u32, y: u32| {
            let at = |places: &[usize], place: u32| {
                places.get(usize::try_from(place).unwrap_or(0)).map_or(0, |place| u32_of(*place))
            };
            picture.get_pixel_checked(at(&columns, x), at(&rows, y)).copied().unwrap_or(Rgb([0; 3]))
        };
        let picture = RgbImage::from_fn(u32_of(columns.len()), u32_of(rows.len()), pixel);
        Self { picture, rows, columns }
    }

    /// Returns the original area of an area in the shortened picture.
    pub(crate) fn original(&self, area: &PixelRect) -> PixelRect {
        let at = |places: &[usize], place: usize| places.get(place).copied().unwrap_or(0);
        let behind = |places: &[usize], place: usize| {
            let last = place.checked_sub(1).and_then(|place| places.get(place));
            last.map_or(0, |place| place + 1)
        };
        PixelRect {
            left: at(&self.columns, area.left),
            top: at(&self.rows, area.top),
            right: behind(&self.columns, area.right),
            bottom: behind(&self.rows, area.bottom),
        }
    }
}

/// The places that are kept of `length`, given which ones are equal to those before them.
fn kept(length: usize, is_equal: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut kept = Vec::with_capacity(length);
    let mut start = 0;
    for place in 1..=length {
        if place == length || !is_equal(place) {
            if place - start > 2 * KEPT {
                kept.extend((start..start + KEPT).chain(place - KEPT..place));
            } else {
                kept.extend(start..place);
            }
            start = place;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_parts_are_shortened_and_areas_found_again() {
        let mut picture = RgbImage::from_pixel(300, 200, Rgb([250; 3]));
        picture.put_pixel(100, 150, Rgb([0; 3]));
        picture.put_pixel(101, 151, Rgb([0; 3]));
        let squeezed = SqueezedPicture::of(&picture);
        assert_eq!(sides(&squeezed.picture), (2 * 32 + 2, 2 * 32 + 2));
        let ink = PixelRect { left: 32, top: 32, right: 34, bottom: 34 };
        assert_eq!(squeezed.original(&ink), PixelRect { left: 100, top: 150, right: 102, bottom: 152 });
        assert_eq!(squeezed.picture.get_pixel(33, 33), &Rgb([0; 3]));
        // Nothing is equal, and nothing at all.
        let noise = RgbImage::from_fn(70, 50, |x, y| Rgb([(x * 7 + y * 13) as u8, x as u8, y as u8]));
        assert_eq!(SqueezedPicture::of(&noise).picture, noise);
        assert_eq!(sides(&SqueezedPicture::of(&RgbImage::new(0, 0)).picture), (0, 0));
    }
}
