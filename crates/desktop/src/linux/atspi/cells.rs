//! Tables: their cells by row and column, and the part of a virtual table that is in view.

use deskhand_core::{
    geometry::{Rect, Screen},
    ids::ElementId,
    ui::{CellRange, CellRef, Element, Pattern, TableContent, TableShape},
};

use super::{
    accessibility::Accessibility,
    applications::{extents, object_at},
    bus::{ACCESSIBLE, Bus, CallError, CallResult, TABLE, TEXT, pipelined},
    details::{Details, Head, read_details, read_head, read_shape, read_states, read_text},
    quirks::Toolkit,
    wire::{ObjectRef, WireRef},
};
use crate::{DesktopError, DesktopResult};

/// The most cells that one call reads.
const CELLS_MAX: u64 = 20_000;
/// The most rows and columns of a virtual table that an observation looks at.
const VIEW_ROWS_MAX: u32 = 60;
const VIEW_COLUMNS_MAX: u32 = 30;
/// The most text of one cell.
const CELL_TEXT_MAX: usize = 2_000;
/// The most paragraphs of one cell.
const PARAGRAPHS_MAX: usize = 50;

/// The object of one cell.
async fn cell_object(bus: &Bus, table: &ObjectRef, cell: CellRef) -> CallResult<ObjectRef> {
    let number = |at: u32| i32::try_from(at).unwrap_or(i32::MAX);
    let sent: WireRef =
        bus.call(table, TABLE, "GetAccessibleAt", &(number(cell.row), number(cell.column))).await?;
    ObjectRef::from_wire(&sent).ok_or(CallError::NoObject)
}

/// The text of one cell as the user reads it: its own, else that of its paragraphs, else its name.
async fn cell_text(bus: &Bus, cell: &ObjectRef) -> CallResult<String> {
    /// `GetText` to the end.
    const END: i32 = -1;
    match bus.call::<_, String>(cell, TEXT, "GetText", &(0_i32, END)).await {
        Err(CallError::NotOffered) => {}
        other => return other.map(|text| text.chars().take(CELL_TEXT_MAX).collect()),
    }
    let mut paragraphs = bus.children(cell).await?;
    paragraphs.truncate(PARAGRAPHS_MAX);
    let mut lines = Vec::with_capacity(paragraphs.len());
    for paragraph in &paragraphs {
        match read_text(bus, paragraph, CELL_TEXT_MAX).await {
            Ok(text) => lines.push(text),
            Err(CallError::NotOffered) => {}
            Err(error) => return Err(error),
        }
    }
    if lines.is_empty() { bus.property(cell, ACCESSIBLE, "Name").await } else { Ok(lines.join("\n")) }
}

fn cells_of(range: CellRange) -> impl Iterator<Item = CellRef> {
    (range.first.row..=range.last.row).flat_map(move |row| {
        (range.first.column..=range.last.column).map(move |column| CellRef { row, column })
    })
}

/// The cell at a corner of the view, from the cell that the toolkit finds there. Some toolkits are off by what
/// lies above the table, so that its own extents decide how far it is from the edge.
async fn corner(
    bus: &Bus,
    table: &ObjectRef,
    columns: u32,
    at: (i32, i32),
) -> CallResult<Option<(CellRef, Option<Rect<Screen>>)>> {
    let Some(cell) = object_at(bus, table, at.0, at.1).await? else { return Ok(None) };
    let (name, index, reported) = tokio::try_join!(
        bus.property::<String>(&cell, ACCESSIBLE, "Name"),
        bus.call::<_, i32>(&cell, ACCESSIBLE, "GetIndexInParent", &()),
        extents(bus, &cell),
    )?;
    let by_index = || {
        let index = u32::try_from(index).ok()?;
        Some(CellRef { row: index.checked_div(columns)?, column: index.checked_rem(columns)? })
    };
    Ok(name.parse().ok().or_else(by_index).map(|cell| (cell, reported)))
}

/// The cells of a virtual table that are in view; none when the toolkit cannot tell.
async fn view(
    bus: &Bus,
    table: &ObjectRef,
    shape: TableShape,
    reported: Option<Rect<Screen>>,
) -> CallResult<Option<CellRange>> {
    const INSET: i32 = 3;
    let Some(area) = reported.filter(|area| area.width > 2 * INSET && area.height > 2 * INSET) else {
        return Ok(None);
    };
    let top_left = corner(bus, table, shape.columns, (area.x + INSET, area.y + INSET)).await?;
    let Some((mut first, cell)) = top_left else { return Ok(None) };
    if let Some(cell) = cell.filter(|cell| !cell.is_empty()) {
        let beyond = |distance: i32, size: i32| u32::try_from((distance + size - 1) / size).unwrap_or(0);
        first.row = first.row.saturating_sub(beyond((cell.y - area.y).max(0), cell.height));
        first.column = first.column.saturating_sub(beyond((cell.x - area.x).max(0), cell.width));
    }
    let bottom_right =
        corner(bus, table, shape.columns, (area.right() - INSET, area.bottom() - INSET)).await?;
    let reach = |first: u32, last: Option<u32>, most: u32, count: u32| {
        last.unwrap_or(u32::MAX).min(first.saturating_add(most - 1)).min(count.saturating_sub(1)).max(first)
    };
    let end = bottom_right.map(|(cell, _)| cell);
    Ok(Some(CellRange {
        first,
        last: CellRef {
            row: reach(first.row, end.map(|cell| cell.row), VIEW_ROWS_MAX, shape.rows),
            column: reach(first.column, end.map(|cell| cell.column), VIEW_COLUMNS_MAX, shape.columns),
        },
    }))
}

/// The cells of a virtual table that are in view and not empty, named by their place.
pub(crate) async fn visible_cells(
    bus: &Bus,
    toolkit: Toolkit,
    table: &ObjectRef,
    shape: TableShape,
    reported: Option<Rect<Screen>>,
) -> CallResult<Vec<(ObjectRef, Head, Details)>> {
    let Some(range) = view(bus, table, shape, reported).await? else { return Ok(Vec::new()) };
    let read = pipelined(cells_of(range), |at| async move {
        let cell = match cell_object(bus, table, at).await {
            Ok(cell) => cell,
            Err(CallError::NoObject) => return Ok(None),
            Err(error) => return Err(error),
        };
        let text = match cell_text(bus, &cell).await {
            Ok(text) if text.is_empty() => return Ok(None),
            Ok(text) => text,
            Err(CallError::NoObject) => return Ok(None),
            Err(error) => return Err(error),
        };
        let states = read_states(bus, &cell).await?;
        let mut head = read_head(bus, &cell, toolkit, states).await?;
        head.name = at.to_string();
        let mut details = read_details(bus, &cell, &head).await?;
        details.text = Some(text.chars().take(Element::TEXT_MAX).collect());
        Ok(Some((cell, head, details)))
    })
    .await;
    read.into_iter().filter_map(Result::transpose).collect()
}

impl Accessibility {
    /// The texts of the cells of a range.
    pub(crate) async fn cells(&self, table: ElementId, range: CellRange) -> DesktopResult<TableContent> {
        const OPERATION: &str = "read cells";
        let known = self.known(table)?;
        let bus = &self.shared.bus;
        self.check_range(OPERATION, table, &known.object, range).await?;
        let read = pipelined(cells_of(range), |at| {
            let table = &known.object;
            async move {
                let cell = cell_object(bus, table, at).await?;
                cell_text(bus, &cell).await
            }
        })
        .await;
        let texts: Vec<String> = read
            .into_iter()
            .collect::<CallResult<_>>()
            .map_err(|error| self.error(OPERATION, table, error))?;
        let columns = usize::try_from(range.shape().columns).unwrap_or(1).max(1);
        let rows = texts.chunks(columns).map(<[String]>::to_vec).collect();
        Ok(TableContent { range, rows })
    }

    /// The element of one cell.
    pub(crate) async fn cell(&self, table: ElementId, at: CellRef) -> DesktopResult<Element> {
        const OPERATION: &str = "find a cell";
        let known = self.known(table)?;
        let bus = &self.shared.bus;
        self.check_range(OPERATION, table, &known.object, CellRange { first: at, last: at }).await?;
        let application = self.owner(table, &known.object)?;
        let reading = async {
            let cell = cell_object(bus, &known.object, at).await?;
            let (mut element, text) = tokio::try_join!(
                self.read_element(bus, &application, &cell, known.shift),
                cell_text(bus, &cell),
            )?;
            element.name = at.to_string();
            element.text = (!text.is_empty()).then(|| text.chars().take(Element::TEXT_MAX).collect());
            Ok(element)
        };
        reading.await.map_err(|error| self.error(OPERATION, table, error))
    }

    /// Checks that an element is a table that has the cells of a range.
    async fn check_range(
        &self,
        operation: &'static str,
        id: ElementId,
        table: &ObjectRef,
        range: CellRange,
    ) -> DesktopResult<()> {
        let shape = match read_shape(&self.shared.bus, table).await {
            Ok(shape) => shape,
            // GTK answers `Get failed` for the size of what is no table.
            Err(CallError::NotOffered | CallError::Refused(_))
                if !self.element(id).await?.offers(Pattern::Table) =>
            {
                return Err(DesktopError::NotOffered {
                    operation,
                    element: id.to_string(),
                    needs: format!("the pattern {:?}", Pattern::Table),
                });
            }
            Err(error) => return Err(self.error(operation, id, error)),
        };
        if range.last.row >= shape.rows || range.last.column >= shape.columns {
            let reason =
                format!("{range} lies outside of its {} rows and {} columns", shape.rows, shape.columns);
            return Err(DesktopError::failed(operation, reason));
        }
        if range.cell_count() > CELLS_MAX {
            let reason = format!("{range} has more than {CELLS_MAX} cells; read it in parts");
            return Err(DesktopError::failed(operation, reason));
        }
        Ok(())
    }
}
