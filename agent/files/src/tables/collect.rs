//! Collects cells that come one by one, within limits.

use std::collections::BTreeMap;

use super::{
    address::{SheetCellRange, column_letters},
    model::{SheetCellValue, SheetData, SheetRow, Tables},
};
use crate::{
    content::{OmittedContent, ReadContinuation},
    error::FileParseError,
    format::Format,
    options::ReadOptions,
};

/// The most columns that are shown where no range is asked for.
const COLUMNS_SHOWN: u32 = 200;
/// The most cells of one file, the empty ones between others included.
const CELLS_MAX: usize = 200_000;
/// The most sheets of a workbook, and the longest name of one, in bytes.
const NAMES_MAX: usize = 10_000;
const NAME_MAX: usize = 1_000;
/// The most tables of one document.
const TABLES_MAX: usize = 500;

/// The remaining limits of collection, over all sheets of a file.
#[derive(Debug)]
pub(crate) struct CellBudget {
    characters: usize,
    cells: usize,
}

impl CellBudget {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        Self { characters: options.characters_max, cells: CELLS_MAX }
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.characters == 0 || self.cells == 0
    }
}

/// One sheet while its cells come in. Cells out of range are counted and dropped.
pub(crate) struct Collector {
    name: String,
    range: SheetCellRange,
    rows_max: usize,
    rows: BTreeMap<u32, BTreeMap<u32, SheetCellValue>>,
    last_row: u32,
    last_column: u32,
    /// The first row, column and cell that did not fit.
    cut_row: Option<u32>,
    cut_column: Option<u32>,
    cut_cell: Option<(u32, u32)>,
    /// Why the end of the sheet was not seen.
    unread: Option<String>,
}

impl Collector {
    pub(crate) fn new(name: &str, options: &ReadOptions) -> Self {
        let mut range = options.cells.unwrap_or(SheetCellRange::ALL);
        if options.cells.is_none() {
            range.last_column = COLUMNS_SHOWN;
        }
        Self {
            name: name.to_owned(),
            range,
            rows_max: options.rows_max.max(1),
            rows: BTreeMap::new(),
            last_row: 0,
            last_column: 0,
            cut_row: None,
            cut_column: None,
            cut_cell: None,
            unread: None,
        }
    }

    /// Adds a cell with content; row and column count from 1. The cell is made only if it is wanted: a text
    /// may be long.
    pub(crate) fn put(
        &mut self,
        row: u32,
        column: u32,
        budget: &mut CellBudget,
        make: impl FnOnce() -> SheetCellValue,
    ) {
        self.see(row, column);
        let range = self.range;
        let is_row_wanted = (range.first_row..=range.last_row).contains(&row);
        if !is_row_wanted || column < range.first_column || self.cut_row.is_some_and(|cut| row >= cut) {
            return;
        }
        if column > range.last_column {
            if range.last_column == COLUMNS_SHOWN && range.last_row == SheetCellRange::ALL.last_row {
                self.cut_at_column(column);
            }
            return;
        }
        if !self.rows.contains_key(&row) && (self.rows.len() >= self.rows_max || budget.is_spent()) {
            self.cut_row = Some(row);
            return;
        }
        let cells = self.rows.entry(row).or_default();
        // The empty cells before it take room too.
        let shown = cells.last_key_value().map_or(range.first_column, |(&last, _)| last + 1);
        let growth = usize::try_from((column + 1).saturating_sub(shown)).unwrap_or(usize::MAX);
        if budget.is_spent() || growth > budget.cells {
            self.cut_at_column(column);
            return;
        }
        budget.cells -= growth;
        let (cell, is_cut) = shorten(make(), &mut budget.characters);
        cells.insert(column, cell);
        if is_cut {
            self.cut_cell.get_or_insert((row, column));
        }
    }

    /// Counts a cell with content that is not added.
    pub(crate) fn see(&mut self, row: u32, column: u32) {
        self.last_row = self.last_row.max(row);
        self.last_column = self.last_column.max(column);
    }

    /// Says that the rows after the ones that were added are unknown.
    pub(crate) fn stop(&mut self, why: &str) {
        self.unread = Some(why.to_owned());
    }

    /// Returns `true` if no later row can change the result but for the totals.
    pub(crate) fn is_full(&self) -> bool {
        self.cut_row.is_some()
    }

    fn cut_at_column(&mut self, column: u32) {
        self.cut_column = Some(self.cut_column.map_or(column, |cut| cut.min(column)));
    }

    pub(crate) fn finish(self) -> SheetData {
        let left_out = self.left_out();
        let first_column = self.range.first_column;
        let row = |(number, cells): (u32, BTreeMap<u32, SheetCellValue>)| {
            let mut row = Vec::new();
            for (column, cell) in cells {
                let before = usize::try_from(column - first_column).unwrap_or_default();
                row.resize(before, SheetCellValue::Empty);
                row.push(cell);
            }
            SheetRow { number, cells: row }
        };
        SheetData {
            name: self.name,
            rows_total: self.last_row,
            columns_total: self.last_column,
            first_column,
            rows: self.rows.into_iter().filter(|(_, cells)| !cells.is_empty()).map(row).collect(),
            left_out,
        }
    }

    fn left_out(&self) -> Option<OmittedContent> {
        let mut what = Vec::new();
        let mut next = None;
        let last_column = self.last_column.min(self.range.last_column.max(COLUMNS_SHOWN));
        let span = |first: u32, last: u32| SheetCellRange {
            first_row: first,
            last_row: last,
            first_column: self.range.first_column,
            last_column: last_column.max(self.range.first_column),
        };
        if let Some((row, column)) = self.cut_cell {
            what.push(format!("the end of cell {}{row} (more than characters_max)", column_letters(column)));
        }
        if let Some(column) = self.cut_column {
            let (from, to) = (column_letters(column), column_letters(self.last_column));
            what.push(format!("cells in columns {from} to {to}"));
            let first_row = self.rows.keys().next().copied().unwrap_or(1);
            let last_row = self.rows.keys().next_back().copied().unwrap_or(first_row);
            let cells = SheetCellRange {
                first_column: column,
                last_column: self.last_column,
                ..span(first_row, last_row)
            };
            next = Some(cells);
        }
        if let Some(row) = self.cut_row {
            let last = self.last_row.min(self.range.last_row);
            what.push(format!("rows {row} to {last}"));
            let rows_max = u32::try_from(self.rows_max).unwrap_or(u32::MAX);
            next = Some(span(row, last.min(row.saturating_add(rows_max - 1))));
        }
        if let Some(why) = &self.unread {
            what.push(why.clone());
        }
        let next =
            next.map(|cells| ReadContinuation::Row { sheet: self.name.clone(), cells: cells.to_string() });
        (!what.is_empty()).then(|| OmittedContent { what: what.join(", "), next })
    }
}

/// Takes the characters of the cell out of what is left; a text that is longer is cut.
fn shorten(cell: SheetCellValue, left: &mut usize) -> (SheetCellValue, bool) {
    let SheetCellValue::Text(mut text) = cell else {
        // A number or date is short: it is shown whole.
        *left = left.saturating_sub(cell.to_string().len().min(30));
        return (cell, false);
    };
    let end = text.char_indices().nth(*left).map(|(index, _)| index);
    if let Some(end) = end {
        text.truncate(end);
        text.push('…');
        *left = 0;
        return (SheetCellValue::Text(text), true);
    }
    *left -= text.chars().count();
    (SheetCellValue::Text(text), false)
}

/// Tables of a document.
pub(crate) fn tables_of(
    format: Format,
    found: Vec<Vec<Vec<String>>>,
    options: &ReadOptions,
) -> Result<Tables, FileParseError> {
    if found.is_empty() {
        return Err(FileParseError::Unsupported("has no tables; read it as text".to_owned()));
    }
    let names: Vec<String> =
        (1..=found.len().min(TABLES_MAX)).map(|number| format!("table {number}")).collect();
    let mut budget = CellBudget::new(options);
    let mut sheets = Vec::new();
    let mut left_out = None;
    for (name, rows) in names.iter().zip(found) {
        if options.sheet.as_ref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        if budget.is_spent() {
            left_out = Some(sheet_left_out(name));
            break;
        }
        let mut collector = Collector::new(name, options);
        for (row, cells) in (1..).zip(rows) {
            for (column, cell) in (1..).zip(cells) {
                if !cell.is_empty() {
                    collector.put(row, column, &mut budget, || SheetCellValue::Text(cell));
                }
            }
        }
        sheets.push(collector.finish());
    }
    check_found(&sheets, &names, options)?;
    Ok(Tables { format, names, sheets, left_out, notes: Vec::new() })
}

/// Describes the sheets from `name` on as left out.
pub(crate) fn sheet_left_out(name: &str) -> OmittedContent {
    OmittedContent {
        what: format!("sheet {name:?} and those after it"),
        next: Some(ReadContinuation::Sheet(name.to_owned())),
    }
}

/// An error if the sheet that is asked for does not exist.
pub(crate) fn check_found(
    sheets: &[SheetData],
    names: &[String],
    options: &ReadOptions,
) -> Result<(), FileParseError> {
    if names.len() > NAMES_MAX || names.iter().any(|name| name.len() > NAME_MAX) {
        return Err(FileParseError::TooLarge(format!(
            "it has more than {NAMES_MAX} sheets, or a name of more than {NAME_MAX} bytes"
        )));
    }
    match &options.sheet {
        Some(wanted) if sheets.is_empty() => {
            let shown: Vec<String> = names.iter().take(50).map(|name| format!("{name:?}")).collect();
            let available = format!("its sheets are {}", shown.join(", "));
            Err(FileParseError::Missing { wanted: format!("sheet {wanted:?}"), available })
        }
        Some(_) | None => Ok(()),
    }
}
