//! Sheets as plain data.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{content::OmittedContent, format::Format};

/// Sheets of a workbook, or tables of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tables {
    /// The format it was read as.
    pub format: Format,
    /// Names of all sheets of the file, in its order.
    pub names: Vec<String>,
    /// The sheets that were read.
    pub sheets: Vec<SheetData>,
    /// Sheets that were left out.
    pub left_out: Option<OmittedContent>,
    /// Remarks for the reader, such as the delimiter that was detected.
    pub notes: Vec<String>,
}

/// The rows of a sheet that were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SheetData {
    /// Its name.
    pub name: String,
    /// Number of the last row that was seen with content; 0 if it is empty.
    pub rows_total: u32,
    /// Number of the last column that was seen with content; 0 if it is empty.
    pub columns_total: u32,
    /// Number of the column of the first cell of each row, from 1.
    pub first_column: u32,
    /// The rows with content.
    pub rows: Vec<SheetRow>,
    /// The part that was left out, and how to read on.
    pub left_out: Option<OmittedContent>,
}

/// A row with content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SheetRow {
    /// Its number, from 1.
    pub number: u32,
    /// Its cells from the first column of the sheet to its last cell with content.
    pub cells: Vec<SheetCellValue>,
}

/// Value of a cell. Formulas are not evaluated: the value that was saved last counts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SheetCellValue {
    /// No content.
    #[default]
    Empty,
    /// Text.
    Text(String),
    /// A number.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// Date, time or both by ISO 8601: `2026-01-31`, `2026-01-31T12:00:00`, or a duration such as `26:30:00`.
    Time(String),
    /// An error of a formula, such as `#DIV/0!`.
    Error(String),
}

impl SheetCellValue {
    /// Returns `true` if it has no content.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Text(text) => text.is_empty(),
            Self::Number(_) | Self::Boolean(_) | Self::Time(_) | Self::Error(_) => false,
        }
    }
}

impl fmt::Display for SheetCellValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => Ok(()),
            Self::Text(text) | Self::Time(text) | Self::Error(text) => formatter.write_str(text),
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Boolean(value) => formatter.write_str(if *value { "TRUE" } else { "FALSE" }),
        }
    }
}
