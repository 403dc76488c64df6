//! A table that handles typed text like a spreadsheet: completion, number formats, a cursor.

use std::collections::{BTreeMap, BTreeSet};

use deskhand_ui::{
    CellRange, CellRef, TableShape,
    geometry::{Rect, Screen},
};

/// The visible columns and rows.
const VIEW: TableShape = TableShape { rows: 24, columns: 8 };
const CELL_WIDTH: i32 = 90;
const CELL_HEIGHT: i32 = 20;

/// The cells of a table.
#[derive(Debug, Clone)]
pub struct FakeSheet {
    /// Its size.
    pub shape: TableShape,
    /// The content of the cells that are not empty.
    pub cells: BTreeMap<CellRef, String>,
    /// Whether typed text goes into the cell under the cursor.
    pub editable: bool,
    /// Whether a typed prefix of an earlier entry of the column is completed.
    pub completes: bool,
    /// Whether numbers show thousands separators.
    pub thousands: bool,
    /// What each formula shows; `None` if the sheet shows formulas as they are.
    pub result_of_formulas: Option<String>,
    /// Whether an accessibility focus moves the cursor.
    pub cells_take_focus: bool,
    /// Cells that reject text.
    pub locked: BTreeSet<CellRef>,
    pub(crate) cursor: CellRef,
    pub(crate) selection: CellRange,
    typed: Option<String>,
    suggestion: Option<String>,
    view: CellRef,
}

const ORIGIN: CellRef = CellRef { row: 0, column: 0 };

impl FakeSheet {
    /// An empty spreadsheet.
    pub fn empty(rows: u32, columns: u32) -> Self {
        Self {
            shape: TableShape { rows, columns },
            cells: BTreeMap::new(),
            editable: true,
            completes: true,
            thousands: false,
            result_of_formulas: None,
            cells_take_focus: true,
            locked: BTreeSet::new(),
            cursor: ORIGIN,
            selection: CellRange { first: ORIGIN, last: ORIGIN },
            typed: None,
            suggestion: None,
            view: ORIGIN,
        }
    }

    /// A read-only table, such as one in a text.
    pub fn of(rows: &[&[&str]]) -> Self {
        let columns = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        let size = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let mut sheet = Self { editable: false, ..Self::empty(size(rows.len()), size(columns)) };
        for (row, texts) in (0..).zip(rows) {
            for (column, text) in (0..).zip(*texts) {
                sheet.cells.insert(CellRef { row, column }, (*text).to_owned());
            }
        }
        sheet
    }

    /// The formula of a cell without the leading `=`; `None` if the sheet calculates nothing.
    pub(crate) fn formula(&self, cell: CellRef) -> Option<String> {
        self.result_of_formulas.as_ref()?;
        let text = self.cells.get(&cell).map(String::as_str).unwrap_or_default();
        Some(text.strip_prefix('=').unwrap_or_default().to_owned())
    }

    /// The shown text of a cell.
    pub fn shown(&self, cell: CellRef) -> String {
        let text = self.cells.get(&cell).cloned().unwrap_or_default();
        if let Some(result) = self.result_of_formulas.as_ref().filter(|_| text.starts_with('=')) {
            return result.clone();
        }
        if self.thousands { with_thousands(&text) } else { text }
    }

    /// The content of all cells, as comma separated lines.
    pub fn to_lines(&self) -> String {
        let Some(last) = self
            .cells
            .keys()
            .copied()
            .reduce(|a, b| CellRef { row: a.row.max(b.row), column: a.column.max(b.column) })
        else {
            return String::new();
        };
        let line = |row| {
            let cell = |column| self.cells.get(&CellRef { row, column }).cloned().unwrap_or_default();
            (0..=last.column).map(cell).collect::<Vec<_>>().join(",")
        };
        (0..=last.row).map(line).collect::<Vec<_>>().join("\n")
    }

    pub(crate) const fn holds(&self, cell: CellRef) -> bool {
        cell.row < self.shape.rows && cell.column < self.shape.columns
    }

    /// The visible part.
    pub(crate) fn view(&self) -> CellRange {
        let last = CellRef {
            row: (self.view.row + VIEW.rows).min(self.shape.rows).saturating_sub(1),
            column: (self.view.column + VIEW.columns).min(self.shape.columns).saturating_sub(1),
        };
        CellRange { first: self.view, last }
    }

    /// The bounds of a cell in a table at `table`, if it is visible.
    pub(crate) fn cell_bounds(&self, table: Rect<Screen>, cell: CellRef) -> Option<Rect<Screen>> {
        let offset = |at: u32, from: u32, until: u32| {
            (at >= from && at <= until).then(|| i32::try_from(at - from).unwrap_or(0))
        };
        let view = self.view();
        let column = offset(cell.column, view.first.column, view.last.column)?;
        let row = offset(cell.row, view.first.row, view.last.row)?;
        let bounds =
            Rect::new(table.x + column * CELL_WIDTH, table.y + row * CELL_HEIGHT, CELL_WIDTH, CELL_HEIGHT);
        bounds.intersection(&table)
    }

    /// The cell at a point of a table at `table`.
    pub(crate) fn cell_at(&self, table: Rect<Screen>, x: i32, y: i32) -> CellRef {
        let offset = |distance: i32, size: i32| u32::try_from(distance / size).unwrap_or(0);
        CellRef {
            row: self.view.row + offset(y - table.y, CELL_HEIGHT),
            column: self.view.column + offset(x - table.x, CELL_WIDTH),
        }
    }

    /// Moves the cursor; commits the text being typed, as spreadsheets do.
    pub(crate) fn go_to(&mut self, range: CellRange) -> bool {
        if !self.holds(range.first) || !self.holds(range.last) {
            return false;
        }
        self.commit();
        self.cursor = range.first;
        self.selection = range;
        let view = self.view();
        if range.first.row < view.first.row || range.first.row > view.last.row {
            self.view.row = range.first.row;
        }
        if range.first.column < view.first.column || range.first.column > view.last.column {
            self.view.column = range.first.column;
        }
        true
    }

    /// Moves the cursor by some cells, as the arrow keys do.
    pub(crate) fn step(&mut self, down: i64, right: i64) {
        let moved = |at: u32, by: i64, size: u32| {
            u32::try_from((i64::from(at) + by).clamp(0, i64::from(size) - 1)).unwrap_or(0)
        };
        let cell = CellRef {
            row: moved(self.cursor.row, down, self.shape.rows),
            column: moved(self.cursor.column, right, self.shape.columns),
        };
        self.go_to(CellRange { first: cell, last: cell });
    }

    /// Scrolls to other rows and columns; returns whether the view moved.
    pub(crate) fn scroll(&mut self, down: i64, right: i64) -> bool {
        let moved = |at: u32, by: i64, size: u32, view: u32| {
            let last = i64::from(size.saturating_sub(view));
            u32::try_from((i64::from(at) + by).clamp(0, last)).unwrap_or(0)
        };
        let view = CellRef {
            row: moved(self.view.row, down, self.shape.rows, VIEW.rows),
            column: moved(self.view.column, right, self.shape.columns, VIEW.columns),
        };
        let changed = view != self.view;
        self.view = view;
        changed
    }

    /// Moves the far corner of the selection, as Shift and the arrow keys do.
    pub(crate) fn extend(&mut self, down: u32, right: u32) {
        self.commit();
        let last = &mut self.selection.last;
        last.row = (last.row + down).min(self.shape.rows.saturating_sub(1));
        last.column = (last.column + right).min(self.shape.columns.saturating_sub(1));
    }

    /// Returns `true` if text is being typed into the cell under the cursor.
    pub(crate) const fn is_editing(&self) -> bool {
        self.typed.is_some()
    }

    pub(crate) fn type_character(&mut self, character: char) {
        if !self.editable || self.locked.contains(&self.cursor) {
            return;
        }
        let mut typed = self.typed.take().unwrap_or_default();
        typed.push(character);
        self.suggestion = self.completes.then(|| self.completion(&typed)).flatten();
        self.typed = Some(typed);
    }

    fn completion(&self, typed: &str) -> Option<String> {
        let begun = typed.to_lowercase();
        self.cells
            .iter()
            .filter(|(cell, _)| cell.column == self.cursor.column && **cell != self.cursor)
            .map(|(_, text)| text)
            .find(|text| {
                text.parse::<f64>().is_err()
                    && text.len() > typed.len()
                    && text.to_lowercase().starts_with(&begun)
            })
            .cloned()
    }

    /// The effect of Delete: removes the completion, or clears the selection.
    pub(crate) fn delete(&mut self) {
        if self.typed.is_some() {
            self.suggestion = None;
        } else if self.editable {
            let (first, last) = (self.selection.first, self.selection.last);
            self.cells.retain(|cell, _| {
                cell.row < first.row
                    || cell.row > last.row
                    || cell.column < first.column
                    || cell.column > last.column
            });
        }
    }

    pub(crate) fn back_space(&mut self) {
        if let Some(typed) = &mut self.typed {
            typed.pop();
            self.suggestion = None;
        } else {
            self.delete();
        }
    }

    pub(crate) fn cancel(&mut self) {
        self.typed = None;
        self.suggestion = None;
    }

    /// Commits the typed text; returns whether there was any.
    pub(crate) fn commit(&mut self) -> bool {
        let Some(typed) = self.typed.take() else { return false };
        let text = self.suggestion.take().unwrap_or(typed);
        if text.is_empty() {
            self.cells.remove(&self.cursor);
        } else {
            self.cells.insert(self.cursor, text);
        }
        true
    }
}

fn with_thousands(text: &str) -> String {
    let Ok(number) = text.parse::<i64>() else { return text.to_owned() };
    let digits = number.unsigned_abs().to_string();
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            shown.push(',');
        }
        shown.push(digit);
    }
    if number < 0 { format!("-{shown}") } else { shown }
}
