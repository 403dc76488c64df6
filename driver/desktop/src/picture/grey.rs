//! Enlarged greyscale pictures for OCR, which cannot read screen text at its original size.

use std::ops::RangeInclusive;

use deskhand_ui::geometry::{Rect, Screen};

use super::Picture;

/// A greyscale picture, 8 bits a pixel, rows from the top without padding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GreyPicture {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// `width * height` bytes.
    pub pixels: Vec<u8>,
}

impl GreyPicture {
    /// The picture as a PGM file.
    pub fn to_pgm(&self) -> Vec<u8> {
        let mut file = format!("P5\n{} {}\n255\n", self.width, self.height).into_bytes();
        file.extend_from_slice(&self.pixels);
        file
    }
}

impl Picture {
    /// The part of the picture that shows `area`; `None` if it is outside.
    #[must_use]
    pub fn part(&self, area: &Rect<Screen>) -> Option<Self> {
        let region = area.intersection(&self.region)?;
        let index = |length: i32| usize::try_from(length).unwrap_or(0);
        let (stride, left) = (index(self.region.width) * 3, index(region.x - self.region.x) * 3);
        let (top, width) = (index(region.y - self.region.y), index(region.width) * 3);
        let mut rgb = Vec::with_capacity(width * index(region.height));
        for row in self.rgb.chunks_exact(stride.max(1)).skip(top).take(index(region.height)) {
            rgb.extend_from_slice(row.get(left..left + width)?);
        }
        Some(Self { region, rgb })
    }

    /// The picture in greyscale, enlarged by `factor` in each direction (1 to 8) by Catmull-Rom splines, which keep thin strokes that
    /// linear interpolation blurs. Areas of light text on a dark background are inverted, and grey backgrounds become white.
    #[must_use]
    pub fn to_enlarged_grey(&self, factor: u32) -> GreyPicture {
        let index = |length: u32| usize::try_from(length).unwrap_or(0);
        let (width, height, factor) = (index(self.width()), index(self.height()), index(factor.clamp(1, 8)));
        let mut grey: Vec<u8> = self.rgb.chunks_exact(3).map(luminance).collect();
        turn_dark_places(&mut grey, width);
        lighten_grey_places(&mut grey, width);
        if factor == 1 {
            return GreyPicture { width, height, pixels: grey };
        }
        let (across, down) = (splines(width, factor), splines(height, factor));
        // Rows are widened first, then columns.
        let mut wide: Vec<i32> = Vec::with_capacity(across.len() * height);
        for row in grey.chunks_exact(width.max(1)) {
            let level = |place: usize| i32::from(row.get(place).copied().unwrap_or(0));
            wide.extend(across.iter().map(|spline| spline.mix(level)));
        }
        let mut pixels = Vec::with_capacity(across.len() * down.len());
        for spline in &down {
            let rows = spline.places.map(|place| wide.get(place * across.len()..).unwrap_or_default());
            for x in 0..across.len() {
                let levels = rows.iter().map(|row| row.get(x).copied().unwrap_or(0));
                let sum: i32 = levels.zip(spline.weights).map(|(level, weight)| level * weight).sum();
                let level = (sum + SPLINE_UNIT * SPLINE_UNIT / 2) / (SPLINE_UNIT * SPLINE_UNIT);
                pixels.push(u8::try_from(level.max(0)).unwrap_or(u8::MAX));
            }
        }
        GreyPicture { width: width * factor, height: height * factor, pixels }
    }
}

/// Sum of the weights of a spline.
const SPLINE_UNIT: i32 = 512;

/// The four pixels that an enlarged one is made of, and how much of each.
struct Spline {
    places: [usize; 4],
    weights: [i32; 4],
}

impl Spline {
    fn mix(&self, level: impl Fn(usize) -> i32) -> i32 {
        self.places.iter().zip(self.weights).map(|(place, weight)| level(*place) * weight).sum()
    }
}

/// For each pixel of an enlarged side, the Catmull-Rom spline through the four that are nearest.
fn splines(length: usize, factor: usize) -> Vec<Spline> {
    let last = length.saturating_sub(1);
    // In halves of an enlarged pixel, so that the centres of the pixels coincide.
    let spline = |place: usize| {
        let middle = 2 * place + 1 + factor;
        // One pixel further than it is, as the first one lies before the first centre.
        let (first, part) = (middle / (2 * factor), middle % (2 * factor));
        let places =
            [first.saturating_sub(2), first.saturating_sub(1), first, first + 1].map(|at| at.min(last));
        let t = part as f32 / (2 * factor) as f32;
        let (square, cube) = (t * t, t * t * t);
        let shares =
            [-0.5 * t + square - 0.5 * cube, 0.0, 0.5 * t + 2.0 * square - 1.5 * cube, 0.5 * (cube - square)];
        let mut weights = shares.map(|share| (share * SPLINE_UNIT as f32).round() as i32);
        let others: i32 = weights.iter().sum();
        if let Some(own) = weights.get_mut(1) {
            *own = SPLINE_UNIT - others;
        }
        Spline { places, weights }
    };
    (0..length * factor).map(spline).collect()
}

/// Inverts the pixels with dark surroundings: OCR misses light text on a dark background within a light one, such as
/// a selection. The surroundings are so large that letters alone do not make them dark.
fn turn_dark_places(grey: &mut [u8], width: usize) {
    const ACROSS: usize = 20;
    const DOWN: usize = 10;
    /// In per cent; slightly less than half, because the text itself is light.
    const DARK_FROM: u32 = 42;
    let height = grey.len().checked_div(width).unwrap_or(0);
    // The number of dark pixels above and to the left of each corner of a pixel.
    let stride = width + 1;
    let mut sums = vec![0_u32; stride * (height + 1)];
    for (y, row) in grey.chunks_exact(width.max(1)).enumerate() {
        let mut sum = 0;
        for (x, level) in row.iter().enumerate() {
            sum += u32::from(*level < 128);
            let above = sums.get(y * stride + x + 1).copied().unwrap_or(0);
            if let Some(corner) = sums.get_mut((y + 1) * stride + x + 1) {
                *corner = above + sum;
            }
        }
    }
    let sum = |x: usize, y: usize| sums.get(y * stride + x).copied().unwrap_or(0);
    for (y, row) in grey.chunks_exact_mut(width.max(1)).enumerate() {
        let (top, bottom) = (y.saturating_sub(DOWN), (y + DOWN + 1).min(height));
        for (x, level) in row.iter_mut().enumerate() {
            let (left, right) = (x.saturating_sub(ACROSS), (x + ACROSS + 1).min(width));
            let dark = (sum(right, bottom) + sum(left, top)) - (sum(right, top) + sum(left, bottom));
            let all = u32::try_from((right - left) * (bottom - top)).unwrap_or(u32::MAX);
            if dark * 100 > DARK_FROM * all {
                *level = 255 - *level;
            }
        }
    }
}

/// Makes backgrounds white that are neither light nor dark: OCR takes the text of a grey bar for a part of it, as it does with the menu
/// bars of Motif.
fn lighten_grey_places(grey: &mut [u8], width: usize) {
    /// The side of the squares whose background is looked for, and how far around them.
    const SIDE: usize = 16;
    const ACROSS: usize = 20;
    const DOWN: usize = 2;
    const GREY: RangeInclusive<u8> = 128..=200;
    let height = grey.len().checked_div(width).unwrap_or(0);
    let before = grey.to_vec();
    for (top, left) in
        (0..height).step_by(SIDE).flat_map(|top| (0..width).step_by(SIDE).map(move |left| (top, left)))
    {
        let (above, below) = (top.saturating_sub(DOWN), (top + SIDE + DOWN).min(height));
        let (from, to) = (left.saturating_sub(ACROSS), (left + SIDE + ACROSS).min(width));
        let rows = before.chunks_exact(width).skip(above).take(below - above);
        let ground = background(rows.flat_map(|row| row.iter().skip(from).take(to - from).copied()));
        if !GREY.contains(&ground) {
            continue;
        }
        for row in grey.chunks_exact_mut(width).skip(top).take(SIDE) {
            for level in row.iter_mut().skip(left).take(SIDE) {
                let light = u32::from(*level) * 255 / u32::from(ground);
                *level = u8::try_from(light).unwrap_or(u8::MAX);
            }
        }
    }
}

/// The level that three tenths of the pixels have, or lighter ones: text and edges are fewer than the rest.
fn background(levels: impl Iterator<Item = u8>) -> u8 {
    const LIGHTER: u32 = 3;
    let mut counts = [0_u32; 256];
    for level in levels {
        if let Some(count) = counts.get_mut(usize::from(level)) {
            *count += 1;
        }
    }
    let all: u32 = counts.iter().sum();
    let mut lighter = 0;
    for (level, count) in (0..=u8::MAX).zip(&counts).rev() {
        lighter += count;
        if lighter * 10 > all * LIGHTER {
            return level;
        }
    }
    u8::MAX
}

/// Returns the brightness of a pixel (ITU-R BT.601).
pub(super) fn luminance(pixel: &[u8]) -> u8 {
    let weights = [299_u32, 587, 114];
    let sum: u32 = pixel.iter().zip(weights).map(|(channel, weight)| u32::from(*channel) * weight).sum();
    u8::try_from(sum / 1_000).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: i32, height: i32, grey: &[u8]) -> Picture {
        let rgb = grey.iter().flat_map(|level| [*level; 3]).collect();
        Picture { region: Rect::new(10, 20, width, height), rgb }
    }

    #[test]
    fn enlarged_pixels_lie_on_a_spline_through_their_neighbours() {
        let large = picture(2, 1, &[130, 230]).to_enlarged_grey(2);
        assert_eq!((large.width, large.height), (4, 2));
        // -0.07, 0.20, 0.80 and 1.07 of the way from one to the other.
        assert_eq!(large.pixels, [123, 150, 210, 237, 123, 150, 210, 237]);
        // An even area stays even, and nothing leaves the range.
        assert_eq!(picture(2, 2, &[201; 4]).to_enlarged_grey(3).pixels, [201; 36]);
        let edge = picture(4, 1, &[255, 255, 130, 130]).to_enlarged_grey(4).pixels;
        assert_eq!((edge[0], edge.iter().copied().max()), (255, Some(255)));
        let same = picture(2, 2, &[201, 202, 203, 204]).to_enlarged_grey(1);
        assert_eq!(same.pixels, [201, 202, 203, 204]);
    }

    #[test]
    fn dark_areas_are_inverted_but_letters_are_not() {
        // A dark bar with a light stroke below a light area with a dark stroke.
        let (width, height) = (100_usize, 60_usize);
        let level = |at: usize| {
            let (x, y) = (at % width, at / width);
            let stroke = (40..43).contains(&x);
            if (y >= 30) == stroke { 240 } else { 10 }
        };
        let levels: Vec<u8> = (0..width * height).map(level).collect();
        let turned = picture(100, 60, &levels).to_enlarged_grey(1);
        let at = |x: usize, y: usize| turned.pixels[y * width + x];
        for y in [5, 50] {
            assert!(at(10, y) > 200 && at(41, y) < 50, "dark on light at {y}: {} {}", at(10, y), at(41, y));
        }
    }

    #[test]
    fn grey_backgrounds_become_white_and_light_ones_stay() {
        // A grey bar above a light area, each with a dark stroke.
        let (width, height) = (100_usize, 60_usize);
        let level = |at: usize| match (at % width, at / width) {
            (40..43, _) => 20,
            (_, 0..30) => 178,
            _ => 229,
        };
        let levels: Vec<u8> = (0..width * height).map(level).collect();
        let lightened = picture(100, 60, &levels).to_enlarged_grey(1);
        let at = |x: usize, y: usize| lightened.pixels[y * width + x];
        assert_eq!((at(10, 10), at(10, 50), at(41, 50)), (255, 229, 20));
        assert!(at(41, 10) < 40, "{}", at(41, 10));
    }

    #[test]
    fn a_part_is_cut_at_its_position() {
        let whole = picture(3, 2, &[1, 2, 3, 4, 5, 6]);
        let part = whole.part(&Rect::new(11, 21, 50, 50)).unwrap();
        assert_eq!(part, Picture { region: Rect::new(11, 21, 2, 1), rgb: vec![5, 5, 5, 6, 6, 6] });
        assert_eq!(whole.part(&Rect::new(0, 0, 10, 10)), None);
    }

    #[test]
    fn a_file_has_a_header_and_the_pixels() {
        let file = picture(2, 1, &[200, 201]).to_enlarged_grey(1).to_pgm();
        assert_eq!(file, b"P5\n2 1\n255\n\xc8\xc9");
    }
}
