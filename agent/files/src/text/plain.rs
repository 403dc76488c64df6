//! Lines of plain text, and of documents that were made to text.

use crate::{
    compose::{DocumentSection, DocumentText},
    content::{OmittedContent, ReadContinuation, Text},
    error::FileParseError,
    format::Format,
    options::{ReadOptions, ReadRange},
    text::TextSource,
    window::LineWindow,
};

/// Lines of a text file, which may be of any size.
pub(crate) fn text(
    source: &TextSource,
    format: Format,
    options: &ReadOptions,
) -> Result<Text, FileParseError> {
    let mut reader = source.reader(u64::MAX)?;
    let mut window = LineWindow::new(options);
    let mut piece = String::new();
    while reader.next_piece(&mut piece)? {
        window.push(&piece);
        piece.clear();
    }
    let mut notes = Vec::new();
    if reader.has_invalid() {
        notes.push(format!(
            "some bytes are not valid {}: they are shown as \u{fffd}, so do not write this text back",
            source.encoding_name()
        ));
    }
    let encoding = Some(source.encoding_name());
    finish(window, !source.is_longer_than(u64::MAX), Text { encoding, notes, ..empty(format) }, options)
}

/// Lines of a text in memory.
pub(crate) fn of_string(text: &str, into: Text, options: &ReadOptions) -> Result<Text, FileParseError> {
    let mut window = LineWindow::new(options);
    window.push(text);
    finish(window, /*seen_all*/ true, into, options)
}

fn finish(
    window: LineWindow,
    seen_all: bool,
    into: Text,
    options: &ReadOptions,
) -> Result<Text, FileParseError> {
    let windowed = window.finish(seen_all);
    let first = options.lines.map_or(1, ReadRange::start);
    if windowed.lines.is_none() && first > windowed.lines_total.max(1) {
        let available = format!("it has {} lines", windowed.lines_total);
        return Err(FileParseError::Missing { wanted: format!("line {first}"), available });
    }
    Ok(Text {
        text: windowed.text,
        lines: windowed.lines,
        lines_total: seen_all.then_some(windowed.lines_total),
        left_out: windowed.left_out,
        ..into
    })
}

pub(crate) fn empty(format: Format) -> Text {
    Text {
        format,
        encoding: None,
        text: String::new(),
        lines: None,
        lines_total: None,
        pages_total: None,
        left_out: None,
        notes: Vec::new(),
    }
}

/// Text of a document, by pages where it has any.
pub(crate) fn of_document(
    document: &DocumentText,
    format: Format,
    options: &ReadOptions,
) -> Result<Text, FileParseError> {
    let has_pages = document.parts.iter().any(|part| part.label.is_some());
    if !has_pages {
        if options.pages.is_some() {
            return Err(FileParseError::Unsupported("has no pages; give lines instead".to_owned()));
        }
        let text: String = document.parts.iter().map(|part| part.text.as_str()).collect();
        return of_string(&text, empty(format), options);
    }
    let first = options.pages.map_or(1, ReadRange::start);
    let total = document.parts.len();
    if first > total {
        let available = format!("the last page is {total}");
        return Err(FileParseError::Missing { wanted: format!("page {first}"), available });
    }
    of_pages(&document.parts, first, Text { pages_total: Some(total), ..empty(format) }, options)
}

/// Text of the pages from `first` on; `parts` starts with page 1.
fn of_pages(
    parts: &[DocumentSection],
    first: usize,
    into: Text,
    options: &ReadOptions,
) -> Result<Text, FileParseError> {
    let wanted = options.pages.unwrap_or(ReadRange::from(1));
    let mut text = String::new();
    let mut left_out = None;
    let mut characters = 0;
    for (number, part) in (1..).zip(parts).skip(first - 1) {
        let page = format!("--- {} ---\n{}", part.label.as_deref().unwrap_or("page"), part.text);
        characters += page.chars().count();
        let is_first = number == first;
        // Lines are counted over all chosen pages, so they are cut out later.
        let is_over = characters > options.characters_max && options.lines.is_none() && !is_first;
        if wanted.is_past(number) || is_over {
            let what = format!("pages {number} to {}", parts.len());
            left_out = Some(OmittedContent { what, next: Some(ReadContinuation::Page(number)) });
            break;
        }
        text.push_str(&page);
    }
    let mut result = of_string(&text, into, options)?;
    // The lines of this page come before the next page.
    result.left_out = match (result.left_out, left_out) {
        (Some(lines), Some(pages)) => {
            Some(OmittedContent { what: format!("{}, and {}", lines.what, pages.what), next: lines.next })
        }
        (lines, pages) => lines.or(pages),
    };
    Ok(result)
}
