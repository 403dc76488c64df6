//! Blocks of a document (headings, paragraphs, items, tables) to text. All document formats end here.

use crate::{error::FileParseError, tables::one_line};

/// The most characters of the text of one document.
const CHARACTERS_MAX: usize = 16_000_000;
/// The most levels of tables inside of tables; deeper ones are text of the cell around them.
const TABLE_DEPTH_MAX: usize = 8;
/// The most cells of all tables of a document.
const TABLE_CELLS_MAX: usize = 500_000;

/// A document as text.
#[derive(Debug, Default)]
pub(crate) struct DocumentText {
    /// Pages or slides; one part if the format has none.
    pub(crate) parts: Vec<DocumentSection>,
    /// Rows of cells of the tables, in the order of the document.
    pub(crate) tables: Vec<Vec<Vec<String>>>,
}

/// A page or slide.
#[derive(Debug, Default)]
pub(crate) struct DocumentSection {
    /// Such as `slide 3`.
    pub(crate) label: Option<String>,
    pub(crate) text: String,
}

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// A heading, of level 1 to 6.
    Heading(usize),
    Paragraph,
    /// An item of a list; 0 is the outermost level.
    Item(usize),
    /// Text whose line breaks count.
    Preformatted,
}

/// Builds a [`DocumentText`] from blocks and cells.
#[derive(Debug, Default)]
pub(crate) struct Composer {
    document: DocumentText,
    /// The text of the current block.
    inline: String,
    tables: Vec<OpenTable>,
    /// Tables that are open but too deep to be told apart.
    too_deep: usize,
    characters: usize,
    cells: usize,
}

#[derive(Debug, Default)]
struct OpenTable {
    rows: Vec<Vec<String>>,
    cell: Option<String>,
}

impl Composer {
    /// Starts a page or slide.
    pub(crate) fn part(&mut self, label: String) {
        self.document.parts.push(DocumentSection { label: Some(label), text: String::new() });
    }

    /// Adds text to the current block.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), FileParseError> {
        self.characters += text.len();
        if self.characters > CHARACTERS_MAX {
            return Err(FileParseError::TooLarge(format!(
                "its text has more than {CHARACTERS_MAX} characters"
            )));
        }
        self.inline.push_str(text);
        Ok(())
    }

    /// Takes out the current block, to put it back later: blocks inside of blocks.
    pub(crate) fn take_inline(&mut self) -> String {
        std::mem::take(&mut self.inline)
    }

    /// Puts text before the current block.
    pub(crate) fn restore_inline(&mut self, before: String) {
        let after = std::mem::replace(&mut self.inline, before);
        self.inline.push_str(&after);
    }

    /// Ends a note inside the current block.
    pub(crate) fn close_aside(&mut self) {
        let length = self.inline.trim_end().len();
        self.inline.truncate(length);
        self.inline.push(']');
    }

    /// Ends the current block. An empty one is dropped.
    pub(crate) fn end_block(&mut self, block: Block) {
        let inline = std::mem::take(&mut self.inline);
        let is_formatted = block == Block::Preformatted;
        let trimmed = if is_formatted { inline.trim_end() } else { inline.trim() };
        if trimmed.trim().is_empty() {
            return;
        }
        if let Some(cell) = self.tables.last_mut().and_then(|table| table.cell.as_mut()) {
            if !cell.is_empty() {
                cell.push('\n');
            }
            cell.push_str(trimmed);
            return;
        }
        let line = match block {
            Block::Heading(level) => format!("{} {trimmed}", "#".repeat(level.clamp(1, 6))),
            Block::Item(depth) => format!("{}- {trimmed}", "  ".repeat(depth.min(10))),
            Block::Paragraph | Block::Preformatted => trimmed.to_owned(),
        };
        self.line(&line, matches!(block, Block::Heading(_)));
    }

    /// Adds a finished line; a heading gets an empty line before it.
    fn line(&mut self, line: &str, is_heading: bool) {
        if self.document.parts.is_empty() {
            self.document.parts.push(DocumentSection::default());
        }
        let Some(part) = self.document.parts.last_mut() else { return };
        if is_heading && !part.text.is_empty() {
            part.text.push('\n');
        }
        part.text.push_str(line);
        part.text.push('\n');
    }

    pub(crate) fn open_table(&mut self) {
        self.end_block(Block::Paragraph);
        if self.tables.len() >= TABLE_DEPTH_MAX {
            self.too_deep += 1;
        } else {
            self.tables.push(OpenTable::default());
        }
    }

    pub(crate) fn open_row(&mut self) {
        self.close_cell(1);
        if let Some(table) = self.open() {
            table.rows.push(Vec::new());
        }
    }

    pub(crate) fn open_cell(&mut self) {
        self.close_cell(1);
        if let Some(table) = self.open() {
            table.cell = Some(String::new());
        }
    }

    /// Ends a cell that is there `count` times.
    pub(crate) fn close_cell(&mut self, count: usize) {
        if self.too_deep > 0 || self.tables.is_empty() {
            return;
        }
        self.end_block(Block::Paragraph);
        let left = TABLE_CELLS_MAX.saturating_sub(self.cells);
        let Some(table) = self.tables.last_mut() else { return };
        let Some(cell) = table.cell.take() else { return };
        // An empty cell that is repeated to the edge of a sheet is no content.
        let count = if cell.is_empty() { count.min(64) } else { count.min(1_000) }.min(left);
        // All of them together are as long as a document may be.
        let room = CHARACTERS_MAX.saturating_sub(self.characters) / cell.len().max(1);
        let count = count.min(room.max(1));
        self.characters += cell.len() * count.saturating_sub(1);
        if table.rows.is_empty() {
            table.rows.push(Vec::new());
        }
        self.cells += count;
        if let Some(row) = table.rows.last_mut() {
            row.extend(std::iter::repeat_n(cell, count));
        }
    }

    pub(crate) fn close_table(&mut self) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        self.close_cell(1);
        let Some(mut table) = self.tables.pop() else { return };
        table.rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        if table.rows.is_empty() {
            return;
        }
        if self.tables.is_empty() {
            let text = markdown(&table.rows);
            self.line(&text, /*is_heading*/ false);
            self.document.tables.push(table.rows);
        } else {
            // A table inside a cell is text of it.
            let rows: Vec<String> = table.rows.iter().map(|row| row.join(" ; ")).collect();
            self.inline = rows.join("\n");
            self.end_block(Block::Paragraph);
        }
    }

    fn open(&mut self) -> Option<&mut OpenTable> {
        if self.too_deep > 0 { None } else { self.tables.last_mut() }
    }

    /// The document; what is still open is closed.
    pub(crate) fn finish(mut self) -> DocumentText {
        while self.too_deep > 0 || !self.tables.is_empty() {
            self.close_table();
        }
        self.end_block(Block::Paragraph);
        self.document
    }
}

/// Rows of a table, the first one as its head.
fn markdown(rows: &[Vec<String>]) -> String {
    // Rows may differ in length; a long one must not widen all others.
    let width = rows.iter().map(Vec::len).max().unwrap_or_default().min(1_000);
    let mut lines = Vec::new();
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| one_line(cell)).collect();
        lines.push(format!("| {} |", cells.join(" | ")));
        if lines.len() == 1 {
            lines.push(format!("|{}", "---|".repeat(width)));
        }
    }
    lines.join("\n")
}
