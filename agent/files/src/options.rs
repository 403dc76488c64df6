//! Options for reading a file.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::tables::SheetCellRange;

/// The parts of a file to read, and their limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// Text or tables.
    pub what: ContentForm,
    /// Lines of the text, from 1.
    pub lines: Option<ReadRange>,
    /// Characters of the first line to skip: to read on inside a line that is longer than `characters_max`.
    pub skip_characters: usize,
    /// Pages of a PDF file or slides of a presentation, from 1.
    pub pages: Option<ReadRange>,
    /// Name of a sheet, or of a table of a document. All of them if absent.
    pub sheet: Option<String>,
    /// Cells of the sheets. All of them if absent.
    pub cells: Option<SheetCellRange>,
    /// Part of a JSON document by RFC 6901, such as `/servers/0/name`.
    pub json_pointer: Option<String>,
    /// The most characters of text, or of all cells together.
    pub characters_max: usize,
    /// The most rows of each sheet. Empty rows do not count.
    pub rows_max: usize,
    /// The longest that a helper program may run.
    pub program_time_max: Duration,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            what: ContentForm::Auto,
            lines: None,
            skip_characters: 0,
            pages: None,
            sheet: None,
            cells: None,
            json_pointer: None,
            characters_max: 20_000,
            rows_max: 500,
            program_time_max: Duration::from_secs(20),
        }
    }
}

/// The form in which content is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentForm {
    /// Tables of spreadsheets and delimited files, text of all others.
    #[default]
    Auto,
    /// Text; tables as rows of Markdown.
    Text,
    /// Tables; those inside a document are named `table 1`, `table 2` and so on.
    Table,
}

/// Numbers of lines or pages from `first` to `last`, both included, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadRange {
    /// The first number. 0 means 1.
    pub first: usize,
    /// The last number. To the end if absent.
    pub last: Option<usize>,
}

impl ReadRange {
    /// From `first` to the end.
    #[must_use]
    pub fn from(first: usize) -> Self {
        Self { first, last: None }
    }

    /// From `first` to `last`, both included.
    #[must_use]
    pub fn between(first: usize, last: usize) -> Self {
        Self { first, last: Some(last) }
    }

    /// The first number, at least 1.
    pub(crate) fn start(self) -> usize {
        self.first.max(1)
    }

    /// Returns `true` if `number` is after the last one.
    pub(crate) fn is_past(self, number: usize) -> bool {
        self.last.is_some_and(|last| number > last)
    }
}
