//! Set-of-marks: frames around controls, with their numbers beside them.
//!
//! A label goes where it covers the least of controls and drawn content, and no other label. Where there is no free place for it, its
//! control has no mark: in dense sheets and palettes, numbers would hide what they are about.

use deskhand_ui::geometry::{Image, Point, Rect};

use super::{Colour, Picture, digits::number_size, grey::luminance};

/// The most marks in one picture: more are no help to find one.
const MARKS_MAX: usize = 200;
/// The most controls for whose marks a place is looked for.
const CONTROLS_MAX: usize = 1_000;
/// The space between a number and the edge of its label.
const PADDING: i32 = 2;
/// The side of the squares in which the picture is searched for content.
const CELL: usize = 4;
/// Maximum number of squares with more than a straight line that a label may hide: a corner, or the end of a
/// stroke.
const STROKES_HIDDEN_MAX: i64 = 2;
/// By how much a pixel must differ in brightness from others of its square to count as content.
const CONTRAST: u8 = 28;

/// The colours of frames on light and on dark backgrounds.
const DARK: [Colour; 6] = [
    Colour([0xb4, 0x00, 0x1e]),
    Colour([0x00, 0x4f, 0xc4]),
    Colour([0x00, 0x6e, 0x2e]),
    Colour([0x7a, 0x00, 0xa8]),
    Colour([0xa3, 0x4a, 0x00]),
    Colour([0x00, 0x62, 0x73]),
];
const BRIGHT: [Colour; 6] = [
    Colour([0xff, 0xe0, 0x3a]),
    Colour([0x4f, 0xe3, 0xff]),
    Colour([0x8d, 0xff, 0x5e]),
    Colour([0xff, 0x9c, 0xf2]),
    Colour([0xff, 0xb3, 0x4d]),
    Colour([0xd9, 0xd9, 0xff]),
];

/// A control that is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementMark {
    /// Its number: 17 for `e17`.
    pub number: u32,
    /// Its bounds.
    pub bounds: Rect<Image>,
}

impl ElementMark {
    /// Returns `true` if it is the mark of an area, such as a document or a window.
    fn is_large(&self) -> bool {
        const LARGE: i64 = 40_000;
        i64::from(self.bounds.width) * i64::from(self.bounds.height) > LARGE
    }
}

/// The position of a label, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkLabel {
    /// The number on it.
    pub number: u32,
    /// The area that it covers.
    pub area: Rect<Image>,
}

impl Picture {
    /// Draws frames around controls and their numbers beside them, where there is a free place for a number. Returns the positions of
    /// the labels.
    pub fn mark(&mut self, marks: &[ElementMark]) -> Vec<MarkLabel> {
        let whole = Rect::new(0, 0, self.region.width, self.region.height);
        let seen =
            |mark: &ElementMark| Some(ElementMark { bounds: mark.bounds.intersection(&whole)?, ..*mark });
        let mut marks: Vec<ElementMark> = marks.iter().filter_map(seen).take(CONTROLS_MAX).collect();
        // Small controls have the fewest positions for a label.
        marks.sort_by_key(|mark| (i64::from(mark.bounds.width) * i64::from(mark.bounds.height), mark.number));
        let (ink, strokes) = InkDensityMap::of(self);
        let mut labels: Vec<MarkLabel> = Vec::with_capacity(marks.len());
        for mark in &marks {
            if labels.len() >= MARKS_MAX {
                break;
            }
            let area = place(mark, &marks, &labels, (&ink, &strokes), &whole);
            labels.extend(area.map(|area| MarkLabel { number: mark.number, area }));
        }
        marks.retain(|mark| labels.iter().any(|label| label.number == mark.number));
        // The background decides the colours, so all of it is read before anything is drawn.
        let colours: Vec<(Colour, Colour)> = marks.iter().map(|mark| self.colours(mark)).collect();
        for (mark, (frame, _)) in marks.iter().zip(&colours) {
            let inside = Rect::new(
                mark.bounds.x + 1,
                mark.bounds.y + 1,
                mark.bounds.width.saturating_sub(2),
                mark.bounds.height.saturating_sub(2),
            );
            self.outline(&inside, 1, *frame);
        }
        for (label, (frame, text)) in labels.iter().zip(&colours) {
            self.fill(&label.area, *frame);
            let at = Point::new(label.area.x + PADDING, label.area.y + PADDING);
            self.write_number(at, label.number, *text);
        }
        labels
    }

    /// The colours of a frame and of the number on its label, chosen for contrast.
    fn colours(&self, mark: &ElementMark) -> (Colour, Colour) {
        const STEPS: i32 = 8;
        let bounds = &mark.bounds;
        let mut light = 0_u32;
        for step in 0..STEPS {
            let x = bounds.x + (bounds.width - 1) * step / STEPS;
            let y = bounds.y + (bounds.height - 1) * step / STEPS;
            light += u32::from(self.luma(x, bounds.y)) + u32::from(self.luma(bounds.x, y));
        }
        let light = light / u32::try_from(2 * STEPS).unwrap_or(1);
        let turn = usize::try_from(mark.number).unwrap_or(0) % DARK.len();
        let (frames, text) = if light > 120 { (DARK, Colour([0xff; 3])) } else { (BRIGHT, Colour([0; 3])) };
        (frames.get(turn).copied().unwrap_or(Colour::MARK), text)
    }

    fn luma(&self, x: i32, y: i32) -> u8 {
        let place = i64::from(y) * i64::from(self.region.width) + i64::from(x);
        let pixel = usize::try_from(place * 3).ok().and_then(|at| self.rgb.get(at..at + 3));
        pixel.map_or(0, luminance)
    }
}

/// The position where a label covers the least; `None` if everywhere near a control it would hide another label or a text: then its
/// number does more harm than good. A window or a document has one all the same.
fn place(
    mark: &ElementMark,
    marks: &[ElementMark],
    labels: &[MarkLabel],
    (ink, strokes): (&InkDensityMap, &InkDensityMap),
    whole: &Rect<Image>,
) -> Option<Rect<Image>> {
    let (width, height) = number_size(mark.number);
    let (width, height) = (width + 2 * PADDING, height + 2 * PADDING);
    let bounds = &mark.bounds;
    let near: Vec<&ElementMark> = {
        let around = Rect::new(
            bounds.x - width,
            bounds.y - height,
            bounds.width + 2 * width,
            bounds.height + 2 * height,
        );
        let others = marks.iter().filter(|other| other.number != mark.number);
        others.filter(|other| other.bounds.intersection(&around).is_some()).collect()
    };
    let overlap = |one: &Rect<Image>, other: &Rect<Image>| {
        other.intersection(one).map_or(0, |part| i64::from(part.width) * i64::from(part.height))
    };
    let hides_label = |area: &Rect<Image>| labels.iter().any(|label| overlap(&label.area, area) > 0);
    let cost = |area: &Rect<Image>, order: i64| {
        let controls: i64 = near.iter().map(|other| small_part(other, overlap(&other.bounds, area))).sum();
        let own = small_part(mark, overlap(bounds, area)) / 2;
        controls * 3 + own * 2 + ink.under(area) * 16 + strokes.under(area) * 48 + order
    };
    let areas =
        places(bounds, width, height).zip(0..).map(|((x, y), order)| (Rect::new(x, y, width, height), order));
    let fits = |area: &Rect<Image>| area.intersection(whole).is_some_and(|part| part == *area);
    let may_be = areas.filter(|(area, _)| fits(area) && !hides_label(area));
    let (_, area) = may_be.map(|(area, order)| (cost(&area, order), area)).min_by_key(|(cost, _)| *cost)?;
    (strokes.under(&area) <= STROKES_HIDDEN_MAX || mark.is_large()).then_some(area)
}

/// The positions of a label, best first: around its control, in its corners, then along its edges.
fn places(bounds: &Rect<Image>, width: i32, height: i32) -> impl Iterator<Item = (i32, i32)> {
    /// Number of positions to try along an edge.
    const STEPS: i32 = 12;
    let (x, y) = (bounds.x, bounds.y);
    let (right, bottom) = (bounds.right() - width, bounds.bottom() - height);
    let middle = y + (bounds.height - height) / 2;
    let first = [
        (x, y - height),
        (right, y - height),
        (x - width, y),
        (bounds.right(), y),
        (x, bounds.bottom()),
        (right, bounds.bottom()),
        (x - width, middle),
        (bounds.right(), middle),
        (right, y),
        (x, y),
        (right, bottom),
        (x, bottom),
    ];
    let above = y - height;
    let below = bounds.bottom();
    let along = (1..STEPS).flat_map(move |step| {
        let across = x + (right - x) * step / STEPS;
        [(across, above), (across, below), (across, y), (across, bottom)]
    });
    first.into_iter().chain(along)
}

/// The cost of covering a part of a control: negligible for a large one, such as a document.
fn small_part(mark: &ElementMark, covered: i64) -> i64 {
    if mark.is_large() { 0 } else { covered }
}

/// The squares of the picture with content, as a summed-area table.
struct InkDensityMap {
    sums: Vec<u32>,
    columns: usize,
    rows: usize,
}

/// The contrast within a square of the picture.
#[derive(Clone, Copy)]
struct Contrast {
    /// The darkest and the brightest level of all, and the greatest differences within a row and within a column.
    levels: (u8, u8),
    across: u8,
    down: u8,
}

impl Contrast {
    fn of(square: &[[u8; CELL]; CELL]) -> Self {
        let range = |levels: &[u8]| {
            (levels.iter().min().copied().unwrap_or(0), levels.iter().max().copied().unwrap_or(0))
        };
        let spread = |levels: &[u8]| {
            let (dark, bright) = range(levels);
            bright - dark
        };
        let across = square.iter().map(|row| spread(row)).max().unwrap_or(0);
        let column =
            |at: usize| -> Vec<u8> { square.iter().filter_map(|row| row.get(at).copied()).collect() };
        let down = (0..CELL).map(|at| spread(&column(at))).max().unwrap_or(0);
        Self { levels: range(square.as_flattened()), across, down }
    }

    /// Returns `true` if anything is drawn there.
    const fn is_content(self) -> bool {
        self.levels.1.saturating_sub(self.levels.0) > CONTRAST
    }

    /// Returns `true` if it is more than a straight line, such as the edge of a control or a line of a sheet.
    const fn is_stroke(self) -> bool {
        self.across > CONTRAST && self.down > CONTRAST
    }
}

impl InkDensityMap {
    /// The content of a picture, and what of it is no straight line.
    fn of(picture: &Picture) -> (Self, Self) {
        let side = |length: i32| usize::try_from(length).unwrap_or(0);
        let (width, height) = (side(picture.region.width), side(picture.region.height));
        let (columns, rows) = (width / CELL, height / CELL);
        let light: Vec<u8> = picture.rgb.chunks_exact(3).map(luminance).collect();
        let mut squares = Vec::with_capacity(columns * rows);
        for lines in light.chunks_exact((width * CELL).max(1)).take(rows) {
            for column in 0..columns {
                let mut square = [[0; CELL]; CELL];
                for (row, line) in square.iter_mut().zip(lines.chunks_exact(width)) {
                    let levels = line.iter().skip(column * CELL).take(CELL);
                    row.iter_mut().zip(levels).for_each(|(to, level)| *to = *level);
                }
                squares.push(Contrast::of(&square));
            }
        }
        let table = |counts: fn(Contrast) -> bool| Self::summed(&squares, (columns, rows), counts);
        (table(Contrast::is_content), table(Contrast::is_stroke))
    }

    fn summed(squares: &[Contrast], (columns, rows): (usize, usize), counts: fn(Contrast) -> bool) -> Self {
        let mut sums = vec![0_u32; (columns + 1) * (rows + 1)];
        for (row, line) in squares.chunks_exact(columns.max(1)).enumerate() {
            let mut in_row = 0;
            for (column, square) in line.iter().enumerate() {
                in_row += u32::from(counts(*square));
                let above = sums.get(row * (columns + 1) + column + 1).copied().unwrap_or(0);
                if let Some(sum) = sums.get_mut((row + 1) * (columns + 1) + column + 1) {
                    *sum = above + in_row;
                }
            }
        }
        Self { sums, columns, rows }
    }

    /// Returns the number of squares with content in an area.
    fn under(&self, area: &Rect<Image>) -> i64 {
        let cell = |place: i32, most: usize| (usize::try_from(place).unwrap_or(0) / CELL).min(most);
        let (left, top) = (cell(area.x, self.columns), cell(area.y, self.rows));
        let (right, bottom) = (cell(area.right() + 3, self.columns), cell(area.bottom() + 3, self.rows));
        let sum = |column: usize, row: usize| {
            i64::from(self.sums.get(row * (self.columns + 1) + column).copied().unwrap_or(0))
        };
        sum(right, bottom) + sum(left, top) - sum(right, top) - sum(left, bottom)
    }
}
