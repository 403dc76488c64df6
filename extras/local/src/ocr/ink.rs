//! Position of the letters in the box of a line. The box is tightened, and cut where a wide gap separates two
//! labels, such as the names of a menu bar, which the detector takes for one line.

use std::ops::Range;

use image::RgbImage;

use super::{boxes::PixelRect, sides::sides};

/// From which difference of a channel to the background a pixel belongs to a letter, of 255.
const INK_FROM: u8 = 40;
/// A gap of at least this share of the height of the letters separates two labels …
const GAP_SHARE: f32 = 0.85;
/// … if it is at least as wide as this, in pixels.
const GAP_MIN: usize = 8;
/// The least width of a gap between words, in pixels.
const SPACE_MIN: usize = 3;
/// From which share of the lower one two boxes of one line are high in common.
const SAME_LINE: f32 = 0.6;
/// The least height of a label, in pixels: lower ones are arrows and dots.
const HEIGHT_MIN: usize = 5;
/// A row or column with at least this share of ink is a rule or an edge, and no part of letters.
const RULE_SHARE: f32 = 0.9;

/// A label: its letters lie close together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OcrLabelBox {
    /// The tight box of its letters.
    pub(crate) area: PixelRect,
    /// The columns in which no letter is, from the left, where there are several together.
    pub(crate) gaps: Vec<Range<usize>>,
}

impl OcrLabelBox {
    /// Returns the relative cost of reading the label: its width, scaled to a common height, in an arbitrary unit.
    pub(crate) fn width_read(&self) -> usize {
        const UNIT: usize = 1_024;
        self.area.width() * UNIT / self.area.height().max(1)
    }
}

/// The labels in the boxes of lines, from the top.
pub(crate) fn labels(picture: &RgbImage, lines: Vec<PixelRect>) -> Vec<OcrLabelBox> {
    let mut found: Vec<OcrLabelBox> =
        joined(lines).iter().flat_map(|line| labels_of_line(picture, line)).collect();
    found.sort_by_key(|label| (label.area.top, label.area.left));
    found
}

/// The same boxes, with those joined that overlap in one line: at their ends they cut each other's letters.
fn joined(mut lines: Vec<PixelRect>) -> Vec<PixelRect> {
    lines.sort_by_key(|line| line.left);
    let mut joined: Vec<PixelRect> = Vec::with_capacity(lines.len());
    for mut line in lines {
        while let Some(place) = joined.iter().position(|other| is_one_line(&line, other)) {
            let other = joined.swap_remove(place);
            line = PixelRect {
                left: line.left.min(other.left),
                top: line.top.min(other.top),
                right: line.right.max(other.right),
                bottom: line.bottom.max(other.bottom),
            };
        }
        joined.push(line);
    }
    joined
}

/// Returns `true` if two boxes overlap, and stand side by side.
fn is_one_line(one: &PixelRect, other: &PixelRect) -> bool {
    let common = one.bottom.min(other.bottom).saturating_sub(one.top.max(other.top));
    let across = one.right.min(other.right) > one.left.max(other.left);
    across && common as f32 >= SAME_LINE * one.height().min(other.height()) as f32
}

/// The labels in the box of a line, from the left; none if it is blank.
fn labels_of_line(picture: &RgbImage, line: &PixelRect) -> Vec<OcrLabelBox> {
    let (width, height) = sides(picture);
    let line = line.grown(0, 0, width, height);
    if line.width() == 0 || line.height() == 0 {
        return Vec::new();
    }
    let ink = LetterMask::of(picture, &line);
    let Some((top, bottom)) = ink.ends(0..line.width()) else { return Vec::new() };
    let gap = ((GAP_SHARE * (bottom - top) as f32).ceil() as usize).max(GAP_MIN);
    let columns = ink.columns();
    let label = |(left, right): (usize, usize)| {
        let (top, bottom) = ink.ends(left..right).filter(|(top, bottom)| bottom - top >= HEIGHT_MIN)?;
        let area = PixelRect {
            left: line.left + left,
            top: line.top + top,
            right: line.left + right,
            bottom: line.top + bottom,
        };
        Some(OcrLabelBox { area, gaps: gaps(&columns, left..right, line.left) })
    };
    pieces(&columns, gap).into_iter().filter_map(label).collect()
}

/// Which pixels of a box belong to letters: those that differ from its background, but for rules and edges, which go through.
struct LetterMask {
    width: usize,
    marked: Vec<bool>,
}

impl LetterMask {
    fn of(picture: &RgbImage, line: &PixelRect) -> Self {
        let stride = sides(picture).0 * 3;
        let rows = picture.as_raw().chunks_exact(stride.max(1)).skip(line.top).take(line.height());
        let pixels: Vec<&[u8]> = rows
            .flat_map(|row| row.get(line.left * 3..line.right * 3).unwrap_or_default().chunks_exact(3))
            .collect();
        let ground = background(&pixels);
        let differs = |pixel: &&[u8]| {
            pixel.iter().zip(ground).any(|(level, ground)| level.abs_diff(ground) >= INK_FROM)
        };
        Self { width: line.width().max(1), marked: pixels.iter().map(differs).collect() }.without_rules()
    }

    fn without_rules(mut self) -> Self {
        let height = self.marked.len() / self.width;
        let mut columns = vec![0; self.width];
        for row in self.marked.chunks_exact(self.width) {
            for (count, ink) in columns.iter_mut().zip(row) {
                *count += usize::from(*ink);
            }
        }
        for row in self.marked.chunks_exact_mut(self.width) {
            let is_rule = row.iter().filter(|ink| **ink).count() >= rule_from(columns.len());
            for (ink, count) in row.iter_mut().zip(&columns) {
                *ink &= !is_rule && *count < rule_from(height);
            }
        }
        self
    }

    /// The first row with ink in these columns, and the one below the last.
    fn ends(&self, columns: Range<usize>) -> Option<(usize, usize)> {
        let has = |row: &[bool]| row.get(columns.clone()).is_some_and(|part| part.contains(&true));
        let first = self.marked.chunks_exact(self.width).position(has)?;
        let last = self.marked.chunks_exact(self.width).rposition(has)?;
        Some((first, last + 1))
    }

    /// Which columns have ink.
    fn columns(&self) -> Vec<bool> {
        let mut columns = vec![false; self.width];
        for row in self.marked.chunks_exact(self.width) {
            for (column, ink) in columns.iter_mut().zip(row) {
                *column |= ink;
            }
        }
        columns
    }
}

/// From how much ink on a row or column is a rule.
fn rule_from(length: usize) -> usize {
    let from = (length as f32 * RULE_SHARE).ceil() as usize;
    from.max(2)
}

/// The most frequent colour, roughly.
fn background(pixels: &[&[u8]]) -> [u8; 3] {
    const LEVELS: usize = 16;
    let mut counts = vec![0_u32; LEVELS * LEVELS * LEVELS];
    let mut last = vec![[0_u8; 3]; LEVELS * LEVELS * LEVELS];
    for pixel in pixels {
        let place = pixel.iter().fold(0, |place, level| place * LEVELS + usize::from(*level) / LEVELS);
        if let (Some(count), Some(last), Ok(pixel)) =
            (counts.get_mut(place), last.get_mut(place), <[u8; 3]>::try_from(*pixel))
        {
            *count += 1;
            *last = pixel;
        }
    }
    counts.iter().zip(last).max_by_key(|(count, _)| **count).map_or([255; 3], |(_, colour)| colour)
}

/// The gaps in a part of the columns, moved by `from`.
fn gaps(columns: &[bool], part: Range<usize>, from: usize) -> Vec<Range<usize>> {
    let inked = part.clone().filter(|column| columns.get(*column) == Some(&true));
    let next = inked.clone().skip(1);
    let between = inked.zip(next).map(|(one, other)| one + 1 + from..other + from);
    between.filter(|gap| gap.len() >= SPACE_MIN).collect()
}

/// The runs of marked places that gaps of at least `gap` separate.
fn pieces(marked: &[bool], gap: usize) -> Vec<(usize, usize)> {
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    for place in marked.iter().enumerate().filter(|(_, one)| **one).map(|(place, _)| place) {
        match pieces.last_mut() {
            Some((_, end)) if place - *end < gap => *end = place + 1,
            Some(_) | None => pieces.push((place, place + 1)),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;

    #[test]
    fn labels_are_tight_and_separate() {
        let mut picture = RgbImage::from_pixel(100, 30, Rgb([240, 240, 240]));
        let mut stroke = |left: u32, right: u32| {
            for (x, y) in (left..right).flat_map(|x| (10..20).map(move |y| (x, y))) {
                picture.put_pixel(x, y, Rgb([20, 20, 20]));
            }
        };
        stroke(12, 14);
        stroke(18, 25);
        stroke(40, 44);
        // A rule below them and an edge beside them are no letters.
        for x in 5..95 {
            picture.put_pixel(x, 24, Rgb([0, 0, 200]));
        }
        for y in 0..30 {
            picture.put_pixel(7, y, Rgb([0, 0, 0]));
        }
        let line = PixelRect { left: 5, top: 4, right: 95, bottom: 28 };
        let wide = PixelRect { left: 12, top: 10, right: 25, bottom: 20 };
        let narrow = PixelRect { left: 40, top: 10, right: 44, bottom: 20 };
        // Another box has a part of the first label, and cuts a letter of it.
        let beside = PixelRect { left: 1, top: 4, right: 20, bottom: 28 };
        let gap = 14..18;
        let expected = [
            OcrLabelBox { area: wide, gaps: Vec::from([gap]) },
            OcrLabelBox { area: narrow, gaps: Vec::new() },
        ];
        assert_eq!(labels(&picture, vec![line, beside]), expected);
        let blank = PixelRect { left: 60, top: 4, right: 95, bottom: 20 };
        assert!(labels(&picture, vec![blank]).is_empty());
    }
}
