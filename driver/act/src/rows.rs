//! Rows that are written to a table: their range and cells.

use deskhand_ui::{
    CellRange, CellRef, Element, TableShape,
    action::{ActionRefusal, ArgumentProblem},
};

use crate::report::Halt;

/// The most cells per call.
const CELLS_MAX: u64 = 2_000;

/// The range of rows that begin at `start`.
pub(crate) fn asked_range(start: CellRef, rows: &[Vec<String>]) -> CellRange {
    let size = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    CellRange::sized(start, TableShape { rows: size(rows.len()), columns: size(columns) })
}

/// The same, if it can be written to that table.
///
/// # Errors
/// Why not: rows of different lengths, too many cells, cells outside of the table, line breaks in a cell.
pub(crate) fn range_of(table: &Element, start: CellRef, rows: &[Vec<String>]) -> Result<CellRange, Halt> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    if columns == 0 || rows.iter().any(|row| row.len() != columns) {
        return Err(ActionRefusal::from(ArgumentProblem::Rows).into());
    }
    let range = asked_range(start, rows);
    if range.cell_count() > CELLS_MAX {
        let problem = ArgumentProblem::Cells { given: range.cell_count(), max: CELLS_MAX };
        return Err(ActionRefusal::from(problem).into());
    }
    let shape = table.table.unwrap_or(TableShape { rows: 0, columns: 0 });
    if range.last.row >= shape.rows || range.last.column >= shape.columns {
        return Err(ActionRefusal::CellsOutside { range, table: table.into(), shape }.into());
    }
    let breaks = |text: &String| text.contains(['\n', '\t']);
    if rows.iter().flatten().any(breaks) {
        return Err(ActionRefusal::from(ArgumentProblem::LineBreakInCell).into());
    }
    Ok(range)
}

/// The cells of these rows with their texts.
pub(crate) fn cells_of(start: CellRef, rows: &[Vec<String>]) -> impl Iterator<Item = (CellRef, &str)> {
    (start.row..).zip(rows).flat_map(move |(row, texts)| {
        (start.column..).zip(texts).map(move |(column, text)| (CellRef { row, column }, text.as_str()))
    })
}
