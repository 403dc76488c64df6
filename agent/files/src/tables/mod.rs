//! Sheets, rows and cells: where they are, how they are collected and how they are shown.

mod address;
mod collect;
mod model;
mod render;

pub(crate) use address::COLUMNS_MAX;
pub use address::{SheetCellRange, column_letters};
pub(crate) use collect::{CellBudget, Collector, check_found, sheet_left_out, tables_of};
pub use model::{SheetCellValue, SheetData, SheetRow, Tables};
pub(crate) use render::one_line;
