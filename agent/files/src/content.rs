//! Content that was read from a file.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{format::Format, options::ReadRange, tables::Tables};

/// The content that was read from a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FileContent {
    /// Text.
    Text(Text),
    /// Sheets of a workbook, or tables of a document.
    Tables(Tables),
}

/// Text of a file. Headings start with `#`, items of lists with `-`, rows of tables with `|`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// The format it was read as.
    pub format: Format,
    /// Encoding of a text file, by the names of the WHATWG standard. Absent for other formats.
    pub encoding: Option<String>,
    /// The text. Lines end with `\n`.
    pub text: String,
    /// Number of the first line of `text` and of the last one; `None` if it is empty.
    pub lines: Option<ReadRange>,
    /// Lines of the whole text (of the chosen pages), if all of it was seen.
    pub lines_total: Option<usize>,
    /// Pages or slides of the whole file, if it has any and they could be counted.
    pub pages_total: Option<usize>,
    /// The part that was left out, and how to read on.
    pub left_out: Option<OmittedContent>,
    /// Remarks for the reader, such as text that is not valid in its encoding.
    pub notes: Vec<String>,
}

impl Text {
    /// Text, remarks and what was left out, as one text for a reader.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = self.text.clone();
        let mut remark = |remark: &dyn fmt::Display| {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&format!("[{remark}]\n"));
        };
        for note in &self.notes {
            remark(note);
        }
        if let Some(left_out) = &self.left_out {
            remark(left_out);
        }
        text
    }
}

/// A part of the file that is not in the content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedContent {
    /// The part that is left out, such as `lines 301 to 900`.
    pub what: String,
    /// The place to continue reading, if that is possible.
    pub next: Option<ReadContinuation>,
}

impl fmt::Display for OmittedContent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "left out: {}", self.what)?;
        self.next.as_ref().map_or(Ok(()), |next| write!(formatter, "; read on with {next}"))
    }
}

/// The place to continue reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadContinuation {
    /// From this line.
    Line(usize),
    /// Inside a line: `lines` from this one, with `skip_characters`.
    Character {
        /// The line.
        line: usize,
        /// Characters of it to skip.
        skip: usize,
    },
    /// From this page or slide.
    Page(usize),
    /// From this row of a sheet.
    Row {
        /// The sheet.
        sheet: String,
        /// The cells, such as `A501:F501`. Extend the last row as needed.
        cells: String,
    },
    /// Another sheet.
    Sheet(String),
}

impl fmt::Display for ReadContinuation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(formatter, "lines from {line}"),
            Self::Character { line, skip } => {
                write!(formatter, "lines from {line}, skip_characters {skip}")
            }
            Self::Page(page) => write!(formatter, "pages from {page}"),
            Self::Row { sheet, cells } => write!(formatter, "sheet {sheet:?}, cells {cells}"),
            Self::Sheet(name) => write!(formatter, "sheet {name:?}"),
        }
    }
}
