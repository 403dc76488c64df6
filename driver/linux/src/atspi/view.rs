//! The visible part of a virtual container: a table or list with too many children to list.
//!
//! The toolkit returns the cells at its corners; everything between them is in view. Where a toolkit draws the text
//! of each cell in its place, a cell without a drawn pixel is empty and is not read; of a thousand visible cells,
//! most are empty.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use deskhand_ui::{
    CellRange, CellRef, Element, Role, State, TableShape,
    geometry::{Point, Rect, Screen},
};
use futures_util::future::BoxFuture;

use super::{
    bus::{ACCESSIBLE, AtspiCallError, Bus, CallResult, pipelined},
    cells::{cell_object, cell_text, cells_of},
    component::{extents, object_at},
    details::{Details, read_details, read_head, read_states},
    header::AtspiObjectHeader,
    quirks::AtspiToolkit,
    shift::Shift,
    wire::{ObjectRef, WireRef},
};
use deskhand_desktop::Picture;

/// The most rows and columns of an observation.
const ROWS_MAX: u32 = 60;
const COLUMNS_MAX: u32 = 30;
/// With fewer cells to read, a screenshot does not pay off.
const PICTURE_WORTH: usize = 40;
/// The most drawn areas that are read again one by one.
const AREAS_MAX: usize = 8;

/// Takes a screenshot of a region; `None` if there is none.
pub(crate) type Pixels<'a> = &'a (dyn Fn(Rect<Screen>) -> BoxFuture<'a, Option<WindowScreenshot>> + Sync);

/// A screenshot, and where it does not show the window that is read.
pub(crate) struct WindowScreenshot {
    pub(crate) picture: Picture,
    /// The areas of the windows above.
    pub(crate) covered: Vec<Rect<Screen>>,
}

/// A container with too many children to list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Container {
    /// `true` if its items have places of their own that show if they are in view, as the icons of an icon view.
    pub(crate) is_icons: bool,
    /// Its size if it is a table; otherwise it is a list.
    pub(crate) shape: Option<TableShape>,
    /// Number of children.
    pub(crate) child_count: u32,
    /// Its visible part, as the toolkit reports it.
    pub(crate) area: Option<Rect<Screen>>,
    /// The correction of the reported coordinates.
    pub(crate) shift: Shift,
}

/// One child in view.
#[derive(Debug, Clone)]
pub(crate) struct VirtualContainerCell {
    pub(crate) object: ObjectRef,
    pub(crate) head: AtspiObjectHeader,
    pub(crate) details: Details,
}

/// The children in view, in reading order, without the empty cells of a table.
#[derive(Debug, Clone)]
pub(crate) struct VirtualContainerView {
    pub(crate) range: CellRange,
    pub(crate) cells: BTreeMap<(u32, u32), VirtualContainerCell>,
}

/// Reads views.
#[derive(Clone, Copy)]
pub(crate) struct Viewer<'a, 'p> {
    pub(crate) bus: &'a Bus,
    pub(crate) toolkit: AtspiToolkit,
    pub(crate) pixels: Option<Pixels<'p>>,
}

impl Viewer<'_, '_> {
    /// The children of a container that are in view. Given the former view and the areas drawn since, only those
    /// areas are read.
    pub(crate) async fn view(
        &self,
        table: &ObjectRef,
        container: Container,
        before: Option<(Arc<VirtualContainerView>, Vec<Rect<Screen>>)>,
    ) -> CallResult<Arc<VirtualContainerView>> {
        let range = match container.is_icons {
            true => Box::pin(self.range_of_icons(table, container)).await?,
            false => self.range(table, container).await?,
        };
        let Some(range) = range else {
            let at = CellRef { row: 0, column: 0 };
            let nothing = CellRange { first: at, last: at };
            return Ok(Arc::new(VirtualContainerView { range: nothing, cells: BTreeMap::new() }));
        };
        if container.shape.is_none() {
            let cells = self.items(table, container, range).await?;
            return Ok(Arc::new(VirtualContainerView { range, cells }));
        }
        if let Some((before, areas)) =
            before.filter(|(view, areas)| view.range == range && areas.len() <= AREAS_MAX)
        {
            let mut places = Vec::new();
            for area in areas {
                match self.drawn_range(table, container, range, area).await? {
                    Some(part) => places.extend(cells_of(part)),
                    None => {
                        places = cells_of(range).collect();
                        break;
                    }
                }
            }
            places.sort_unstable_by_key(|at| (at.row, at.column));
            places.dedup();
            let mut cells = before.cells.clone();
            for place in &places {
                cells.remove(&(place.row, place.column));
            }
            cells.extend(self.cells(table, container, range.first, places).await?);
            return Ok(Arc::new(VirtualContainerView { range, cells }));
        }
        let places = cells_of(range).collect();
        let cells = self.cells(table, container, range.first, places).await?;
        Ok(Arc::new(VirtualContainerView { range, cells }))
    }

    /// The view with its states read again; `None` if one of its children is gone.
    pub(crate) async fn states(
        &self,
        view: &VirtualContainerView,
    ) -> CallResult<Option<Arc<VirtualContainerView>>> {
        let read = pipelined(view.cells.clone(), |(place, cell)| async move {
            match read_states(self.bus, &cell.object).await {
                Ok(states) if states.has(State::Defunct) => Ok(None),
                Ok(states) => {
                    let head = AtspiObjectHeader { states, ..cell.head };
                    Ok(Some((place, VirtualContainerCell { head, ..cell })))
                }
                Err(AtspiCallError::NoObject) => Ok(None),
                Err(error) => Err(error),
            }
        })
        .await;
        let cells: Option<BTreeMap<_, _>> = read.into_iter().collect::<CallResult<_>>()?;
        Ok(cells.map(|cells| Arc::new(VirtualContainerView { range: view.range, cells })))
    }

    /// The cell at a corner of the view, starting from the cell that the toolkit finds there. Some toolkits are off
    /// by the height of what is above the table, so the extents of the cell itself decide how far it is from the
    /// edge.
    async fn corner(
        &self,
        table: &ObjectRef,
        columns: u32,
        at: (i32, i32),
    ) -> CallResult<Option<(CellRef, Option<Rect<Screen>>)>> {
        let bus = self.bus;
        let Some(found) = object_at(bus, table, at.0, at.1).await? else { return Ok(None) };
        let Some(cell) = child_with(bus, table, found).await? else { return Ok(None) };
        let (name, index, reported) = tokio::try_join!(
            bus.property::<String>(&cell, ACCESSIBLE, "Name"),
            bus.call::<_, i32>(&cell, ACCESSIBLE, "GetIndexInParent", &()),
            extents(bus, &cell),
        )?;
        let by_index = || {
            let index = u32::try_from(index).ok()?;
            Some(CellRef { row: index.checked_div(columns)?, column: index.checked_rem(columns)? })
        };
        let by_name = name.parse().ok().filter(|_| self.toolkit.names_cells_by_place);
        Ok(by_name.or_else(by_index).map(|cell| (cell, reported)))
    }

    /// The rows and columns in view; `None` if the toolkit cannot tell.
    async fn range(&self, table: &ObjectRef, container: Container) -> CallResult<Option<CellRange>> {
        const INSET: i32 = 3;
        let shape = container.shape.unwrap_or(TableShape { rows: container.child_count, columns: 1 });
        let wide = |area: &Rect<Screen>| area.width > 2 * INSET && area.height > 2 * INSET;
        let Some(area) = container.area.filter(wide) else { return Ok(None) };
        let (top_left, bottom_right) = tokio::try_join!(
            self.corner(table, shape.columns, (area.x + INSET, area.y + INSET)),
            self.corner(table, shape.columns, (area.right() - INSET, area.bottom() - INSET)),
        )?;
        let Some((mut first, cell)) = top_left else { return Ok(None) };
        if let Some(cell) = cell.filter(|cell| !cell.is_empty()) {
            let beyond = |distance: i32, size: i32| u32::try_from((distance + size - 1) / size).unwrap_or(0);
            first.row = first.row.saturating_sub(beyond((cell.y - area.y).max(0), cell.height));
            first.column = first.column.saturating_sub(beyond((cell.x - area.x).max(0), cell.width));
        }
        let reach = |first: u32, last: Option<u32>, most: u32, count: u32| {
            let last = last.unwrap_or(u32::MAX).min(first.saturating_add(most - 1));
            last.min(count.saturating_sub(1)).max(first)
        };
        let end = bottom_right.map(|(cell, _)| cell);
        let row = reach(first.row, end.map(|cell| cell.row), ROWS_MAX, shape.rows);
        let column = reach(first.column, end.map(|cell| cell.column), COLUMNS_MAX, shape.columns);
        Ok(Some(CellRange { first, last: CellRef { row, column } }))
    }

    /// The icons in view, and some more: those around every few that have a place. The object at a point is of no use, because GTK 3
    /// forgets there how far the view is scrolled.
    async fn range_of_icons(&self, icons: &ObjectRef, container: Container) -> CallResult<Option<CellRange>> {
        const SAMPLES_MAX: u32 = 500;
        const STEP_MIN: usize = 4;
        let step = usize::try_from(container.child_count / SAMPLES_MAX).unwrap_or(STEP_MIN).max(STEP_MIN);
        let found = pipelined((0..container.child_count).step_by(step), |at| async move {
            let icon = child_at(self.bus, icons, at).await?;
            let placed = extents(self.bus, &icon).await?.is_some_and(|place| !place.is_empty());
            CallResult::Ok(placed.then_some(at))
        })
        .await;
        let mut placed = Vec::new();
        for at in found {
            match at {
                Ok(at) => placed.extend(at),
                Err(AtspiCallError::NoObject | AtspiCallError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let Some((first, last)) = placed.iter().min().zip(placed.iter().max()) else { return Ok(None) };
        let more = u32::try_from(step).unwrap_or(0);
        let last = last.saturating_add(more).min(container.child_count.saturating_sub(1));
        let at = |row: u32| CellRef { row, column: 0 };
        Ok(Some(CellRange { first: at(first.saturating_sub(more)), last: at(last) }))
    }

    /// The cells of `range` in an area of the screen; `None` if the toolkit cannot tell.
    async fn drawn_range(
        &self,
        table: &ObjectRef,
        container: Container,
        range: CellRange,
        area: Rect<Screen>,
    ) -> CallResult<Option<CellRange>> {
        let Some((visible, shape)) = container.area.zip(container.shape) else { return Ok(None) };
        let (first, last) = (Point::new(area.x, area.y), Point::new(area.right(), area.bottom()));
        let (first, last) = (container.shift.undo(first), container.shift.undo(last));
        let area = Rect::new(first.x, first.y, last.x - first.x, last.y - first.y);
        let Some(drawn) = area.intersection(&visible) else { return Ok(None) };
        let (first, last) = tokio::try_join!(
            self.corner(table, shape.columns, (drawn.x, drawn.y)),
            self.corner(table, shape.columns, (drawn.right() - 1, drawn.bottom() - 1)),
        )?;
        let Some(((first, _), (last, _))) = first.zip(last) else { return Ok(None) };
        // One more on each side: a toolkit with an offset finds a neighbour.
        let inside = |at: u32, from: u32, to: u32| at.clamp(from, to);
        let (from, to) = (range.first, range.last);
        Ok(Some(CellRange {
            first: CellRef {
                row: inside(first.row.saturating_sub(2), from.row, to.row),
                column: inside(first.column.saturating_sub(1), from.column, to.column),
            },
            last: CellRef {
                row: inside(last.row.saturating_add(2), from.row, to.row),
                column: inside(last.column.saturating_add(1), from.column, to.column),
            },
        }))
    }

    /// The items of a list in a range of its rows.
    async fn items(
        &self,
        list: &ObjectRef,
        container: Container,
        range: CellRange,
    ) -> CallResult<BTreeMap<(u32, u32), VirtualContainerCell>> {
        let parent = container.is_icons.then_some(&Role::LAYERED_PANE);
        let read = pipelined(range.first.row..=range.last.row, |row| async move {
            let reading = async {
                let object = child_at(self.bus, list, row).await?;
                let states = read_states(self.bus, &object).await?;
                if !self.toolkit.shows(states, parent) {
                    return Ok(None);
                }
                let head = read_head(self.bus, &object, self.toolkit, states).await?;
                let details = read_details(self.bus, &object, self.toolkit, &head, None).await?;
                if self.toolkit.is_out_of_view((&head.role, states), parent, details.reported) {
                    return Ok(None);
                }
                Ok(Some(((row, 0), VirtualContainerCell { object, head, details })))
            };
            match reading.await {
                Err(AtspiCallError::NoObject) => Ok(None),
                other => other,
            }
        })
        .await;
        read.into_iter().filter_map(Result::transpose).collect()
    }

    /// The cells at `places` that are not empty, named by their position. `first` is the one at the top left of the view.
    async fn cells(
        &self,
        table: &ObjectRef,
        container: Container,
        first: CellRef,
        mut places: Vec<CellRef>,
    ) -> CallResult<BTreeMap<(u32, u32), VirtualContainerCell>> {
        if places.len() >= PICTURE_WORTH && self.toolkit.draws_cells_in_place {
            self.leave_out_blank(table, container, first, &mut places).await?;
        }
        let read = pipelined(places, |at| async move {
            let object = match cell_object(self.bus, table, at).await {
                Ok(object) => object,
                Err(AtspiCallError::NoObject) => return Ok(None),
                Err(error) => return Err(error),
            };
            let text = match cell_text(self.bus, &object).await {
                Ok(text) if text.is_empty() => return Ok(None),
                Ok(text) => text,
                Err(AtspiCallError::NoObject) => return Ok(None),
                Err(error) => return Err(error),
            };
            let states = read_states(self.bus, &object).await?;
            let mut head = read_head(self.bus, &object, self.toolkit, states).await?;
            head.name = at.to_string();
            let mut details = read_details(self.bus, &object, self.toolkit, &head, None).await?;
            details.text = Some(text.chars().take(Element::TEXT_MAX).collect());
            Ok(Some(((at.row, at.column), VirtualContainerCell { object, head, details })))
        })
        .await;
        read.into_iter().filter_map(Result::transpose).collect()
    }

    /// Leaves out the positions where nothing is drawn, if a screenshot can tell.
    async fn leave_out_blank(
        &self,
        table: &ObjectRef,
        container: Container,
        first: CellRef,
        places: &mut Vec<CellRef>,
    ) -> CallResult<()> {
        let Some(pixels) = self.pixels else { return Ok(()) };
        let edge: BTreeSet<(u32, u32)> =
            places.iter().flat_map(|at| [(at.row, first.column), (first.row, at.column)]).collect();
        let edge = edge.into_iter().map(|(row, column)| CellRef { row, column });
        let read = pipelined(edge, |at| async move {
            let object = cell_object(self.bus, table, at).await?;
            Ok((at, extents(self.bus, &object).await?))
        })
        .await;
        let (mut rows, mut columns) = (BTreeMap::new(), BTreeMap::new());
        for found in read {
            match found {
                Ok((at, Some(extents))) => {
                    let place = container.shift.apply(extents);
                    if at.column == first.column {
                        rows.insert(at.row, (place.y, place.height));
                    }
                    if at.row == first.row {
                        columns.insert(at.column, (place.x, place.width));
                    }
                }
                Ok((_, None)) | Err(AtspiCallError::NoObject) => {}
                Err(error) => return Err(error),
            }
        }
        let Some(area) = container.area.map(|area| container.shift.apply(area)) else { return Ok(()) };
        let Some(drawn) = pixels(area).await else { return Ok(()) };
        places.retain(|at| match (columns.get(&at.column), rows.get(&at.row)) {
            (Some((x, width)), Some((y, height))) => !drawn.is_blank(Rect::new(*x, *y, *width, *height)),
            _ => true,
        });
        Ok(())
    }
}

/// The child of an object with this index.
async fn child_at(bus: &Bus, parent: &ObjectRef, index: u32) -> CallResult<ObjectRef> {
    let index = i32::try_from(index).unwrap_or(i32::MAX);
    let sent: WireRef = bus.call(parent, ACCESSIBLE, "GetChildAtIndex", &index).await?;
    ObjectRef::from_wire(&sent).ok_or(AtspiCallError::NoObject)
}

/// The child of an object that is, or contains, `found`.
pub(crate) async fn child_with(
    bus: &Bus,
    parent: &ObjectRef,
    found: ObjectRef,
) -> CallResult<Option<ObjectRef>> {
    const DEPTH_MAX: usize = 40;
    let mut object = found;
    for _ in 0..DEPTH_MAX {
        match bus.parent(&object).await? {
            Some(above) if above == *parent => return Ok(Some(object)),
            Some(above) => object = above,
            None => break,
        }
    }
    Ok(None)
}

impl WindowScreenshot {
    /// Returns `true` if the inside of a cell has a single colour. `false` for a cell that is too small or not
    /// completely in the picture, and for one that another window covers.
    fn is_blank(&self, cell: Rect<Screen>) -> bool {
        /// The width of the grid lines and of the cursor around a cell.
        const EDGE: i32 = 3;
        const INSIDE_MIN: i32 = 6;
        let picture = &self.picture;
        let inside = Rect::new(cell.x + EDGE, cell.y + EDGE, cell.width - 2 * EDGE, cell.height - 2 * EDGE);
        if inside.width < INSIDE_MIN || inside.height < INSIDE_MIN {
            return false;
        }
        let Some(seen) = picture.region.intersection(&inside) else { return true };
        if self.covered.iter().any(|other| other.intersection(&seen).is_some()) {
            return false;
        }
        let at = |value: i32| usize::try_from(value).unwrap_or(0);
        let stride = at(picture.region.width) * 3;
        let (left, top) = (at(seen.x - picture.region.x) * 3, at(seen.y - picture.region.y));
        let bytes = at(seen.width) * 3;
        let mut colour: Option<&[u8]> = None;
        (top..top + at(seen.height)).all(|row| {
            let start = row * stride + left;
            let Some(line) = picture.rgb.get(start..start + bytes) else { return false };
            line.chunks_exact(3).all(|pixel| *colour.get_or_insert(pixel) == pixel)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_with_one_pixel_of_text_is_not_blank() {
        let region = Rect::new(100, 50, 40, 20);
        let mut drawn = WindowScreenshot {
            picture: Picture { region, rgb: vec![255; 40 * 20 * 3] },
            covered: Vec::new(),
        };
        let cell = Rect::new(102, 52, 30, 16);
        assert!(drawn.is_blank(cell));
        // A pixel of the grid line does not count, one inside does.
        drawn.picture.rgb[(2 * 40 + 3) * 3] = 0;
        assert!(drawn.is_blank(cell));
        drawn.picture.rgb[(10 * 40 + 12) * 3] = 0;
        assert!(!drawn.is_blank(cell));
        assert!(!drawn.is_blank(Rect::new(102, 52, 30, 8)), "too small to decide");
    }

    #[test]
    fn a_cell_below_another_window_is_not_known_to_be_blank() {
        let region = Rect::new(0, 0, 100, 20);
        let covered = vec![Rect::new(45, 0, 100, 100)];
        let drawn = WindowScreenshot { picture: Picture { region, rgb: vec![255; 100 * 20 * 3] }, covered };
        assert!(drawn.is_blank(Rect::new(0, 0, 40, 20)));
        assert!(!drawn.is_blank(Rect::new(40, 0, 40, 20)));
    }
}
