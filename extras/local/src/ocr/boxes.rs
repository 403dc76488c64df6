//! From a map of how likely each pixel belongs to text to the boxes of lines.

/// Minimum probability that a pixel belongs to text for it to count.
const LIKELY: f32 = 0.3;
/// Minimum mean probability of the pixels of a line.
const LINE_LIKELY: f32 = 0.5;
/// The detector marks the middle of lines: their boxes are larger by this share of the area over the circumference.
const GROWTH: f32 = 1.6;
/// The fewest pixels that the marked middle of a line is high and wide.
const SIDE_MIN: usize = 2;

/// A rectangle of a picture, in its pixels. The right and bottom edges are outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PixelRect {
    /// The leftmost column.
    pub left: usize,
    /// The topmost row.
    pub top: usize,
    /// The column behind the rightmost one.
    pub right: usize,
    /// The row below the last one.
    pub bottom: usize,
}

impl PixelRect {
    /// Columns.
    pub const fn width(&self) -> usize {
        self.right.saturating_sub(self.left)
    }

    /// Rows.
    pub const fn height(&self) -> usize {
        self.bottom.saturating_sub(self.top)
    }

    /// The same with a margin, within a picture of these sides.
    pub(crate) fn grown(&self, across: usize, down: usize, width: usize, height: usize) -> Self {
        Self {
            left: self.left.saturating_sub(across),
            top: self.top.saturating_sub(down),
            right: (self.right + across).min(width),
            bottom: (self.bottom + down).min(height),
        }
    }
}

/// The lines in a map of `width` columns, in no particular order.
pub(crate) fn lines(map: &[f32], width: usize) -> Vec<PixelRect> {
    let height = map.len().checked_div(width).unwrap_or(0);
    let mut open: Vec<bool> = map.iter().map(|likely| *likely > LIKELY).collect();
    let mut found = Vec::new();
    for start in 0..open.len() {
        if let Some(PixelComponent { area, sum, count }) = spot(&mut open, map, width, start) {
            let is_large = area.width() >= SIDE_MIN && area.height() >= SIDE_MIN;
            let mean = sum / count as f32;
            if is_large && mean >= LINE_LIKELY {
                let growth = growth(&area);
                found.push(area.grown(growth, growth, width, height));
            }
        }
    }
    found
}

/// Marked pixels that touch each other.
struct PixelComponent {
    area: PixelRect,
    sum: f32,
    count: usize,
}

/// The spot that a pixel belongs to, which is taken out of the open pixels.
fn spot(open: &mut [bool], map: &[f32], width: usize, start: usize) -> Option<PixelComponent> {
    let mut take = |place: usize| open.get_mut(place).is_some_and(std::mem::take);
    if !take(start) {
        return None;
    }
    let (x, y) = (start % width, start / width);
    let mut spot = PixelComponent {
        area: PixelRect { left: x, top: y, right: x + 1, bottom: y + 1 },
        sum: 0.0,
        count: 0,
    };
    let mut waiting = vec![start];
    while let Some(place) = waiting.pop() {
        let (x, y) = (place % width, place / width);
        spot.sum += map.get(place).copied().unwrap_or(0.0);
        spot.count += 1;
        let area = &mut spot.area;
        *area = PixelRect {
            left: area.left.min(x),
            top: area.top.min(y),
            right: area.right.max(x + 1),
            bottom: area.bottom.max(y + 1),
        };
        let beside = [(x > 0).then(|| place - 1), (x + 1 < width).then(|| place + 1)];
        let around = [place.checked_sub(width), Some(place + width)];
        waiting.extend(beside.into_iter().chain(around).flatten().filter(|next| take(*next)));
    }
    Some(spot)
}

/// By how much the box of a line is larger than its marked middle on each side, in pixels.
fn growth(area: &PixelRect) -> usize {
    let (width, height) = (area.width() as f32, area.height() as f32);
    (width * height * GROWTH / (2.0 * (width + height))).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spots_become_boxes_of_lines() {
        let (width, height) = (40, 20);
        let mut map = vec![0.0; width * height];
        let mut fill = |left: usize, top: usize, right: usize, bottom: usize, likely: f32| {
            for y in top..bottom {
                map[y * width + left..y * width + right].fill(likely);
            }
        };
        fill(4, 6, 20, 10, 0.9);
        // Too unlikely on the whole, too small, and at the edge.
        fill(26, 2, 34, 6, 0.4);
        fill(26, 12, 27, 13, 0.9);
        fill(36, 14, 40, 20, 0.8);
        let found = lines(&map, width);
        assert_eq!(
            found,
            [
                PixelRect { left: 1, top: 3, right: 23, bottom: 13 },
                PixelRect { left: 34, top: 12, right: 40, bottom: 20 }
            ]
        );
        assert!(lines(&[], 0).is_empty());
    }
}
