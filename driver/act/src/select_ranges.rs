//! Selects several ranges of cells: the first one as any range is, the others by clicks with Ctrl held, which keep what is selected.

use deskhand_desktop::{Button, Desktop, PointerChord, QuietLimits};
use deskhand_ui::{
    CellRange, CellRanges, CellRef, Element, TableShape, WindowInfo,
    action::{ActionRefusal, UnsupportedCapability},
    geometry::{Point, Screen},
    keys::KeyModifier,
};

use crate::{
    before::look_at_places,
    patience::{comes_within, handled, patiently, watch_app},
    report::{ActLimits, Halt},
    select_range::{CellSelectionState, has_selection, select_range},
};

/// Maximum number of times the table is scrolled to bring a cell into view.
const SCROLLS_MAX: u32 = 40;
/// Minimum distance of one notch of the wheel, in pixels.
const NOTCH: i32 = 40;
/// The most notches at once.
const NOTCHES_MAX: i32 = 20;

/// Selects several ranges of a table in a window that is in front.
pub(crate) async fn select_several<D: Desktop>(
    desktop: &D,
    (surface, table): (&WindowInfo, &Element),
    ranges: &CellRanges,
    limits: &ActLimits,
) -> Result<CellSelectionState, Halt> {
    let several = Several { desktop, surface, table, ranges };
    if several.are_selected().await? {
        return Ok(CellSelectionState::Already);
    }
    for (index, range) in ranges.ranges().enumerate() {
        if index > 0 {
            several.add(range).await?;
        } else if let CellSelectionState::Not = select_range(desktop, (surface, table), range, limits).await?
        {
            return Ok(CellSelectionState::Not);
        }
    }
    let watch = watch_app(desktop, surface.id).await?;
    let holds = || several.are_selected();
    let came = comes_within(desktop, (surface.id, watch), limits.effect, holds).await?;
    Ok(if came.holds { CellSelectionState::Now } else { CellSelectionState::Not })
}

/// Several ranges of a table that are to be selected.
struct Several<'a, D: Desktop> {
    desktop: &'a D,
    surface: &'a WindowInfo,
    table: &'a Element,
    ranges: &'a CellRanges,
}

impl<D: Desktop> Several<'_, D> {
    /// Returns `true` if exactly these ranges are selected, according to the cells at their corners and just
    /// outside of them.
    async fn are_selected(&self) -> Result<bool, Halt> {
        for range in self.ranges.ranges() {
            for cell in corners(range) {
                if !has_selection(self.desktop, self.table, cell).await? {
                    return Ok(false);
                }
            }
        }
        let is_wanted = |cell: CellRef| self.ranges.ranges().any(|range| contains(range, cell));
        let shape = self.table.table.unwrap_or(TableShape { rows: 0, columns: 0 });
        for cell in self.ranges.ranges().flat_map(|range| neighbours(range, shape)) {
            if !is_wanted(cell) && has_selection(self.desktop, self.table, cell).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds a range to what is selected.
    async fn add(&self, range: CellRange) -> Result<(), Halt> {
        self.click(range.first, vec![KeyModifier::Ctrl]).await?;
        if range.first != range.last {
            self.click(range.last, vec![KeyModifier::Ctrl, KeyModifier::Shift]).await?;
        }
        Ok(())
    }

    async fn click(&self, cell: CellRef, modifiers: Vec<KeyModifier>) -> Result<(), Halt> {
        let point = self.bring_into_view(cell).await?;
        let held = PointerChord { button: Button::Left, modifiers };
        handled(self.desktop, self.surface.id, async || self.desktop.click(point, held, 1).await).await?;
        Ok(())
    }

    /// The centre of a cell, once the table is scrolled so that it shows.
    async fn bring_into_view(&self, cell: CellRef) -> Result<Point<Screen>, Halt> {
        let (desktop, surface) = (self.desktop, self.surface.bounds);
        let view = self.table.bounds.and_then(|table| table.intersection(&surface)).unwrap_or(surface);
        let mut before = None;
        for _ in 0..SCROLLS_MAX {
            // LibreOffice reports places in one way and then in another: only a look tells which it is.
            look_at_places(desktop, self.surface.id).await?;
            let bounds = patiently(|| desktop.cell(self.table.id, cell)).await?.bounds;
            let (from, center) = (view.center(), bounds.map(|bounds| bounds.center()));
            if let Some(center) = center.filter(|center| view.contains(center)) {
                return Ok(center);
            }
            let away = match center {
                Some(center) => Some((center.x - from.x, center.y - from.y)),
                None => self.away(from, cell).await?,
            };
            let Some((right, down)) = away.filter(|_| before != away) else { break };
            before = away;
            let notches = |pixels: i32, size: i32| {
                if pixels.abs() < size / 2 { 0 } else { (pixels / NOTCH).clamp(-NOTCHES_MAX, NOTCHES_MAX) }
            };
            let watch = watch_app(desktop, self.surface.id).await?;
            desktop.scroll(from, notches(right, view.width), notches(down, view.height)).await?;
            desktop.settle(watch, QuietLimits::default()).await?;
        }
        let element = self.table.into();
        Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::ReachingItem }.into())
    }

    /// Returns the distance from a point to a cell that has no place, to the right and down, in pixels, going by
    /// the cell there.
    async fn away(&self, from: Point<Screen>, cell: CellRef) -> Result<Option<(i32, i32)>, Halt> {
        let there = patiently(|| self.desktop.element_at(self.surface.id, from)).await?;
        let place = there.and_then(|there| Some((there.name.parse::<CellRef>().ok()?, there.bounds?)));
        Ok(place.map(|(at, bounds)| {
            let pixels = |to: u32, from: u32, size: i32| {
                let cells = i64::from(to) - i64::from(from);
                i32::try_from(cells * i64::from(size)).unwrap_or(if cells < 0 {
                    i32::MIN / 2
                } else {
                    i32::MAX / 2
                })
            };
            (pixels(cell.column, at.column, bounds.width), pixels(cell.row, at.row, bounds.height))
        }))
    }
}

fn corners(range: CellRange) -> [CellRef; 4] {
    let CellRange { first, last } = range;
    [
        first,
        CellRef { row: first.row, column: last.column },
        CellRef { row: last.row, column: first.column },
        last,
    ]
}

/// The cells just outside of a range, beside its corners.
fn neighbours(range: CellRange, shape: TableShape) -> impl Iterator<Item = CellRef> {
    let CellRange { first, last } = range;
    let beside = [
        first.row.checked_sub(1).map(|row| CellRef { row, ..first }),
        first.column.checked_sub(1).map(|column| CellRef { column, ..first }),
        Some(CellRef { row: last.row + 1, ..last }),
        Some(CellRef { column: last.column + 1, ..last }),
    ];
    beside.into_iter().flatten().filter(move |cell| cell.row < shape.rows && cell.column < shape.columns)
}

fn contains(range: CellRange, cell: CellRef) -> bool {
    (range.first.row..=range.last.row).contains(&cell.row)
        && (range.first.column..=range.last.column).contains(&cell.column)
}
