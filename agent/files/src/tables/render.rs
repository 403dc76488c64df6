//! Sheets as Markdown for a reader, and as JSON for a program.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{
    address::{SheetCellRange, column_letters},
    model::{SheetCellValue, SheetData, SheetRow, Tables},
};
use crate::content::{OmittedContent, ReadContinuation};

impl Tables {
    /// The sheets as Markdown tables with letters of columns and numbers of rows, so that cells can be
    /// addressed.
    ///
    /// At most about `characters_max` characters: rows that do not fit are left out, and the text says how to
    /// read on.
    #[must_use]
    pub fn to_markdown(&self, characters_max: usize) -> String {
        let mut text = String::new();
        for sheet in &self.sheets {
            let room = characters_max.saturating_sub(text.chars().count());
            if room == 0 && !text.is_empty() {
                let next = Some(ReadContinuation::Sheet(sheet.name.clone()));
                let left_out =
                    OmittedContent { what: format!("sheet {:?} and those after it", sheet.name), next };
                let _ = writeln!(text, "[{left_out}]");
                return text;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            sheet.write_markdown(&mut text, room);
        }
        for note in &self.notes {
            let _ = writeln!(text, "[{note}]");
        }
        if let Some(left_out) = &self.left_out {
            let _ = writeln!(text, "[{left_out}]");
        }
        text
    }

    /// The sheets as JSON: `{"sheets": [{"name", "rows": [{"row": 1, "A": …, "B": …}]}]}`. Empty cells are
    /// absent.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let sheets: Vec<Value> = self.sheets.iter().map(SheetData::to_json).collect();
        let mut value = json!({ "format": self.format.name(), "names": self.names, "sheets": sheets });
        if let (Some(left_out), Some(object)) = (&self.left_out, value.as_object_mut()) {
            object.insert("left_out".to_owned(), left_out.to_string().into());
        }
        value
    }
}

impl SheetData {
    fn to_json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(|row| self.row_to_json(row)).collect();
        let (last_row, last_column) = (self.rows_total, column_letters(self.columns_total));
        let mut value = json!({
            "name": self.name, "last_row": last_row, "last_column": last_column, "rows": rows,
        });
        if let (Some(left_out), Some(object)) = (&self.left_out, value.as_object_mut()) {
            object.insert("left_out".to_owned(), left_out.to_string().into());
        }
        value
    }

    fn row_to_json(&self, row: &SheetRow) -> Value {
        let mut object = Map::new();
        object.insert("row".to_owned(), row.number.into());
        for (column, cell) in (self.first_column..).zip(&row.cells) {
            if !cell.is_empty() {
                object.insert(column_letters(column), cell.to_json());
            }
        }
        Value::Object(object)
    }

    fn write_markdown(&self, text: &mut String, room: usize) {
        let (rows, columns) = (self.rows_total, self.columns_total);
        let _ = write!(text, "## {}", one_line(&self.name));
        if rows == 0 {
            text.push_str(" (empty)\n");
            return;
        }
        let _ = writeln!(text, " (used cells: A1:{}{rows})\n", column_letters(columns));
        let width = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or_default();
        let last_column = self.first_column + u32::try_from(width).unwrap_or_default();
        if width > 0 {
            let letters: Vec<String> = (self.first_column..last_column).map(column_letters).collect();
            let _ = writeln!(text, "| | {} |\n|{}", letters.join(" | "), "---|".repeat(width + 1));
        }
        let mut used = 0;
        for row in &self.rows {
            let line = markdown_row(row, width);
            used += line.chars().count();
            if used > room && row.number != self.rows.first().map_or(0, |first| first.number) {
                let left_out = self.rows_left_out(row.number, last_column.saturating_sub(1));
                let _ = writeln!(text, "[{left_out}]");
                return;
            }
            text.push_str(&line);
        }
        if let Some(left_out) = &self.left_out {
            let _ = writeln!(text, "[{left_out}]");
        }
    }

    /// The rows from `first` on, which did not fit.
    fn rows_left_out(&self, first: u32, last_column: u32) -> OmittedContent {
        let last = self.rows.last().map_or(first, |row| row.number).max(first);
        let cells =
            SheetCellRange { first_row: first, last_row: last, first_column: self.first_column, last_column };
        let next = ReadContinuation::Row { sheet: self.name.clone(), cells: cells.to_string() };
        OmittedContent { what: format!("rows {first} to {}", self.rows_total.max(last)), next: Some(next) }
    }
}

impl SheetCellValue {
    fn to_json(&self) -> Value {
        match self {
            Self::Empty => Value::Null,
            Self::Text(text) | Self::Time(text) | Self::Error(text) => text.as_str().into(),
            Self::Number(number) => whole(*number).map_or_else(|| (*number).into(), Value::from),
            Self::Boolean(value) => (*value).into(),
        }
    }
}

/// The number as an integer if it is one: 12, not 12.0.
fn whole(number: f64) -> Option<i64> {
    // Above 2^53 not every integer has its own number.
    let is_whole = number.fract() == 0.0 && number.abs() < 9.0e15;
    is_whole.then(|| format!("{number:.0}").parse().ok()).flatten()
}

fn markdown_row(row: &SheetRow, width: usize) -> String {
    let mut line = format!("| {} |", row.number);
    for cell in row.cells.iter().chain(std::iter::repeat(&SheetCellValue::Empty)).take(width) {
        let _ = write!(line, " {} |", one_line(&cell.to_string()));
    }
    line.push('\n');
    line
}

/// Text inside a cell of a Markdown table.
pub(crate) fn one_line(text: &str) -> String {
    text.trim().replace("\r\n", "\n").replace(['\n', '\r'], "<br>").replace('|', "\\|")
}
