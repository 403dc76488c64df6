//! The lines of a text that are wanted, cut out of a stream of any length.

use crate::{
    content::{OmittedContent, ReadContinuation},
    options::{ReadOptions, ReadRange},
};

/// Takes text piece by piece and keeps the lines of a span, up to a number of characters.
pub(crate) struct LineWindow {
    wanted: ReadRange,
    skip: usize,
    characters_left: usize,
    text: String,
    /// The line that is being read, and how many of its characters went by.
    line: usize,
    column: usize,
    /// `true` if the line has a character.
    is_open: bool,
    /// The last line of which something was kept.
    last_kept: Option<usize>,
    /// The first character that did not fit.
    cut: Option<(usize, usize)>,
    /// `true` if the last character was `\r`: `\r\n` is one line ending, even across pieces.
    after_return: bool,
}

/// The final content of a window.
pub(crate) struct TextWindow {
    pub(crate) text: String,
    pub(crate) lines: Option<ReadRange>,
    pub(crate) lines_total: usize,
    pub(crate) left_out: Option<OmittedContent>,
}

impl LineWindow {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        Self {
            wanted: options.lines.unwrap_or(ReadRange::from(1)),
            skip: options.skip_characters,
            characters_left: options.characters_max,
            text: String::new(),
            line: 1,
            column: 0,
            is_open: false,
            last_kept: None,
            cut: None,
            after_return: false,
        }
    }

    /// Adds a piece of the text; `\r\n` and lone `\r` become `\n`.
    pub(crate) fn push(&mut self, piece: &str) {
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            if self.after_return && first == '\n' {
                rest = rest.get(1..).unwrap_or_default();
                self.after_return = false;
                continue;
            }
            self.after_return = false;
            let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
            let (line, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.is_open |= !line.is_empty();
            self.inside(line);
            rest = after;
            if let Some(end) = rest.chars().next() {
                self.after_return = end == '\r';
                self.end_line();
                rest = rest.get(1..).unwrap_or_default();
            }
        }
    }

    /// The end of a line. It may exceed the limit by one character, so that reading on starts with a line.
    fn end_line(&mut self) {
        if self.line >= self.wanted.start() && !self.is_full() {
            self.text.push('\n');
            self.last_kept = Some(self.line);
            match self.characters_left.checked_sub(1) {
                Some(left) => self.characters_left = left,
                None => self.cut = Some((self.line + 1, 0)),
            }
        }
        self.line += 1;
        self.column = 0;
        self.is_open = false;
    }

    /// Returns `true` if no more text can be kept.
    pub(crate) fn is_full(&self) -> bool {
        self.cut.is_some() || self.wanted.is_past(self.line)
    }

    /// A piece of the current line, without its end.
    fn inside(&mut self, piece: &str) {
        if self.line < self.wanted.start() || self.is_full() {
            return;
        }
        let mut piece = piece;
        if self.line == self.wanted.start() && self.column < self.skip {
            let skip = self.skip - self.column;
            let start = piece.char_indices().nth(skip).map(|(index, _)| index);
            let skipped = start.map_or_else(|| piece.chars().count(), |_| skip);
            piece = start.and_then(|start| piece.get(start..)).unwrap_or_default();
            self.column += skipped;
        }
        if !piece.is_empty() {
            let count = piece.chars().count();
            self.keep(piece, count);
        }
    }

    fn keep(&mut self, piece: &str, count: usize) {
        if self.line < self.wanted.start() || self.is_full() {
            return;
        }
        if count <= self.characters_left {
            self.text.push_str(piece);
            self.characters_left -= count;
            self.column += count;
        } else {
            let end = piece.char_indices().nth(self.characters_left).map_or(0, |(index, _)| index);
            let kept = piece.get(..end).unwrap_or_default();
            self.text.push_str(kept);
            self.cut = Some((self.line, self.column + self.characters_left));
            self.characters_left = 0;
            if kept.is_empty() {
                return;
            }
        }
        self.last_kept = Some(self.line);
    }

    /// The result. `seen_all` is false if the source has more than was pushed.
    pub(crate) fn finish(mut self, seen_all: bool) -> TextWindow {
        // An unfinished last line counts, an empty one after the last `\n` does not.
        let total = if self.is_open { self.line } else { self.line - 1 };
        // Where nothing follows, nothing is cut.
        self.cut = self.cut.filter(|(line, _)| *line <= total || !seen_all);
        self.cut_at_line_end();
        let left_out = self.left_out(total, seen_all);
        let first = self.wanted.start();
        let lines = self.last_kept.map(|last| ReadRange::between(first, last));
        TextWindow { text: self.text, lines, lines_total: total, left_out }
    }

    /// Lines are not cut where whole ones can be shown: the last one is left out unless it is the only one.
    fn cut_at_line_end(&mut self) {
        let Some((line, _)) = self.cut else { return };
        if line == self.wanted.start() {
            return;
        }
        let end = self.text.rfind('\n').map_or(0, |index| index + 1);
        self.text.truncate(end);
        self.cut = Some((line, 0));
        self.last_kept = self.last_kept.map(|last| last.min(line - 1));
    }

    fn left_out(&self, total: usize, seen_all: bool) -> Option<OmittedContent> {
        let end = if seen_all { format!("{total}") } else { "the end".to_owned() };
        if let Some((line, column)) = self.cut {
            let next = if column == 0 {
                ReadContinuation::Line(line)
            } else {
                ReadContinuation::Character { line, skip: column }
            };
            let what = match column {
                0 => format!("lines {line} to {end}"),
                column => format!("line {line} after character {column}, and the lines to {end}"),
            };
            return Some(OmittedContent { what, next: Some(next) });
        }
        let next = self.wanted.last.map_or(self.line, |last| last.max(self.wanted.start()) + 1);
        if next <= total && self.wanted.last.is_some() {
            return Some(OmittedContent {
                what: format!("lines {next} to {end}"),
                next: Some(ReadContinuation::Line(next)),
            });
        }
        (!seen_all).then(|| OmittedContent {
            what: "the lines after the ones that were searched".to_owned(),
            next: None,
        })
    }
}
