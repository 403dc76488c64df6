//! Cells that are written into a spreadsheet, and what became of them.

use deskhand_ui::{CellRef, action::CellMismatch};

/// Kind of cell that is written.
pub(crate) enum TargetCellKind {
    /// A cell of a table.
    Plain,
    /// A text field, as an editable cell of a page: there typing inserts.
    Field,
    /// The title of a column or row, as in a page.
    Header,
}

/// Way in which a cell accepts text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellEntryMethod {
    /// Typing with the cursor on it replaces its content.
    Typed,
    /// A text field: its text is selected and typed over.
    Replaced,
    /// Opened for editing by its action.
    Action,
    /// By a second click after the one that selects it.
    Click,
    /// By a double click.
    DoubleClick,
}

/// A cell with what is to be written, and what it held before.
pub(crate) struct CellWrite<'a> {
    pub(crate) at: CellRef,
    pub(crate) text: &'a str,
    pub(crate) old: SheetCellContent,
}

/// Content of a cell.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SheetCellContent {
    pub(crate) shown: String,
    /// Without the leading `=`; `None` if the application does not tell.
    pub(crate) formula: Option<String>,
}

/// Comparison of a cell with the written text.
pub(crate) enum CellReadBack {
    /// As it was written.
    Same,
    /// The written text, shown in another form.
    Shown(String),
    /// Something else.
    Other(String),
}

/// Cells that were written and read back.
pub(crate) struct TableWriteOutcome {
    pub(crate) waited_ms: u64,
    /// Number of cells that were written again.
    pub(crate) again: u64,
    pub(crate) shown: Vec<CellMismatch>,
    pub(crate) wrong: Vec<CellMismatch>,
}
