//! Reading the cells of a table.

use deskhand_desktop::{Desktop, DesktopResult};
use deskhand_ui::{
    CellRange, CellRef, TableContent, TableShape, WindowInfo,
    action::{
        ActionKind, ActionOutcome, ActionProof, ActionRefusal, ActionRoute, Aim, UnsupportedCapability,
    },
    geometry::{Rect, Screen},
    ids::WindowId,
};
use serde_json::json;

use crate::{
    drawn_table::{DrawnTable, DrawnWord, tables},
    oracle::{self, NativeDocumentState},
    patience::{patiently, read_element},
    report::{ActionReport, Halt, report},
    surfaces::surfaces,
    table::{TableTarget, find_table},
    words::drawn_words,
};

/// A table up to this size is read whole.
const WHOLE_MAX: u64 = 5_000;
/// The part of a larger table that is read if no range is given and the application does not say what is used; trailing empty rows
/// and columns are dropped.
const HEAD: TableShape = TableShape { rows: 100, columns: 26 };

/// Reads the cells of a table: those of `range`, otherwise all of a small table or the used part at the top left of a large one. Where
/// the application has an interface of its own, the output also has the used range, formulas, number formats and what is shown otherwise
/// than it is stored. Where there is no table, what is drawn in rows and columns is one.
///
/// # Errors
/// [`deskhand_desktop::DesktopError::NoWindow`] if the window is gone, or another error of the desktop.
pub async fn read_table<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &TableTarget,
    range: Option<CellRange>,
) -> DesktopResult<ActionReport> {
    let read = match Box::pin(read(desktop, window, target, range)).await {
        Err(Halt::Refused(refusal)) => {
            let drawn = Box::pin(read_drawn(desktop, window, target, range)).await;
            drawn.and_then(|drawn| drawn.ok_or(Halt::Refused(refusal)))
        }
        other => other,
    };
    report(ActionKind::ReadCells, read)
}

/// Reads a table that is only drawn: the one at an element, or the largest; `None` if words do not stand in rows and columns there.
async fn read_drawn<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &TableTarget,
    range: Option<CellRange>,
) -> Result<Option<ActionReport>, Halt> {
    let place = match target {
        TableTarget::Named(_) => return Ok(None),
        TableTarget::Largest => None,
        TableTarget::Element(id) => match read_element(desktop, *id).await {
            Ok(element) => element.bounds,
            Err(_) => return Ok(None),
        },
    };
    let Some((surface, table)) = find_drawn_table(desktop, window, place).await? else { return Ok(None) };
    let Some(wanted) = table.shown_of(range) else { return Ok(None) };
    let output = json!({ "table": "", "range": wanted, "rows": table.part(wanted), "drawn": table.range });
    let proof = ActionProof::CellsRead { range: wanted };
    let action =
        ActionOutcome::new(ActionKind::ReadCells, Aim::window(&surface), proof).by(ActionRoute::Semantic);
    Ok(Some(ActionReport::from(action).with_output(output)))
}

/// The table with the most texts that is drawn at a place of the topmost surface that has one.
async fn find_drawn_table<D: Desktop>(
    desktop: &D,
    window: WindowId,
    place: Option<Rect<Screen>>,
) -> Result<Option<(WindowInfo, DrawnTable)>, Halt> {
    for surface in surfaces(desktop, window).await?.into_iter().rev() {
        let words = drawn_words(desktop, surface.id).await?.into_iter();
        let words = words.filter_map(|word| Some(DrawnWord { bounds: word.bounds?, text: word.name }));
        let is_there =
            |table: &DrawnTable| place.is_none_or(|place| table.bounds.intersection(&place).is_some());
        if let Some(table) = tables(words.collect()).into_iter().find(is_there) {
            return Ok(Some((surface, table)));
        }
    }
    Ok(None)
}

async fn read<D: Desktop>(
    desktop: &D,
    window: WindowId,
    target: &TableTarget,
    range: Option<CellRange>,
) -> Result<ActionReport, Halt> {
    let (surface, table) = find_table(desktop, window, target).await?;
    let origin = CellRef { row: 0, column: 0 };
    let shape = table.table.unwrap_or(TableShape { rows: 0, columns: 0 });
    if shape.rows == 0 || shape.columns == 0 {
        let element = (&table).into();
        return Err(ActionRefusal::Unsupported { element, what: UnsupportedCapability::Cells }.into());
    }
    let whole = CellRange::sized(origin, shape);
    let is_small = whole.cell_count() <= WHOLE_MAX;
    let told = if is_small { None } else { oracle::document(desktop, &surface).await };
    let wanted = match range {
        Some(range) => range,
        None if is_small => whole,
        None => match &told {
            // Everything that is used, as far as it fits.
            Some(NativeDocumentState { used: Some(used), .. }) => {
                let columns = (used.last.column + 1).min(shape.columns);
                let fit = u32::try_from(WHOLE_MAX / u64::from(columns.max(1))).unwrap_or(u32::MAX);
                let rows = (used.last.row + 1).min(shape.rows).min(fit.max(1));
                CellRange::sized(origin, TableShape { rows, columns })
            }
            Some(NativeDocumentState { used: None, .. }) | None => {
                let (rows, columns) = (shape.rows.min(HEAD.rows), shape.columns.min(HEAD.columns));
                CellRange::sized(origin, TableShape { rows, columns })
            }
        },
    };
    if wanted.last.row > whole.last.row || wanted.last.column > whole.last.column {
        return Err(ActionRefusal::CellsOutside { range: wanted, table: (&table).into(), shape }.into());
    }
    let content = patiently(|| desktop.cells(table.id, wanted)).await?;
    let content = if range.is_none() && !is_small { trimmed(content) } else { content };
    let proof = ActionProof::CellsRead { range: content.range };
    let mut output = json!({
        "table": table.name,
        "range": content.range,
        "rows": content.rows,
        "whole": { "rows": shape.rows, "columns": shape.columns },
    });
    if let (Some(told), Some(output)) = (told, output.as_object_mut()) {
        output.extend(told.used.map(|used| ("used".to_owned(), json!(used))));
        let (formulas, formats) = oracle::cells(desktop, &surface, content.range).await;
        let shown = oracle::drawn_otherwise(desktop, &surface, &content).await;
        output.extend(formulas.map(|formulas| ("formulas".to_owned(), formulas)));
        output.extend(formats.map(|formats| ("formats".to_owned(), formats)));
        output.extend(shown.map(|shown| ("shown".to_owned(), shown)));
    }
    let action =
        ActionOutcome::new(ActionKind::ReadCells, Aim::element(&table), proof).by(ActionRoute::Semantic);
    Ok(ActionReport::from(action).with_output(output))
}

/// Drops trailing empty rows and columns; keeps at least one cell.
fn trimmed(content: TableContent) -> TableContent {
    let used = |row: &Vec<String>| row.iter().rposition(|text| !text.is_empty()).map_or(0, |at| at + 1);
    let columns = content.rows.iter().map(used).max().unwrap_or(0).max(1);
    let rows = content.rows.iter().rposition(|row| used(row) > 0).map_or(1, |at| at + 1);
    let size = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let mut kept = content.rows;
    kept.truncate(rows);
    for row in &mut kept {
        row.truncate(columns);
    }
    let shape = TableShape { rows: size(rows), columns: size(columns) };
    TableContent { range: CellRange::sized(content.range.first, shape), rows: kept }
}
