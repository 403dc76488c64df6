//! A file of help to text with headings, whatever its format.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use flate2::read::MultiGzDecoder;

use super::{
    files::{ending, is_section, name},
    man, xml,
};
use crate::reading::DocumentTextReader;

/// The most bytes at the beginning of a file that its format is recognised by.
const START_MAX: usize = 16 * 1024;

/// A file of help as text.
#[derive(Debug)]
pub(crate) struct HelpDocument {
    /// Fallback name if the document has no title.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Reads a file of at most `bytes_max` bytes; the reason if it has no text.
pub(crate) fn document(
    path: &Path,
    reader: &DocumentTextReader,
    bytes_max: u64,
) -> Result<HelpDocument, String> {
    let file_name = name(path);
    let is_compressed = ending(&file_name) == "gz";
    let bare = file_name.strip_suffix(".gz").unwrap_or(&file_name);
    let ending = ending(bare);
    let stem = bare.strip_suffix(&format!(".{ending}")).unwrap_or(bare);
    let document = |text: String| HelpDocument { name: stem.to_owned(), text };
    if is_section(&ending) {
        let page = read(path, is_compressed, bytes_max)?;
        if let Some(other) = man::refers_to(&page) {
            return Err(format!("it only refers to {other}"));
        }
        if man::is_man(&page) || page.starts_with(['.', '\'']) {
            return Ok(document(man::text(&page)));
        }
        return Err("it is no man page".to_owned());
    }
    if ["page", "xml", "docbook"].contains(&ending.as_str()) {
        let page = read(path, is_compressed, bytes_max)?;
        let start: String = page.chars().take(START_MAX).collect();
        if !xml::is_help(&start) {
            return Err("its XML is neither Mallard nor DocBook".to_owned());
        }
        return xml::text(&page).map(document);
    }
    let text = if is_compressed {
        let unpacked = unpacked(path, bare, bytes_max)?;
        reader.read(unpacked.path())?
    } else {
        reader.read(path)?
    };
    let is_written = !["html", "htm", "xhtml", "pdf", "odt", "odp", "docx"].contains(&ending.as_str());
    Ok(document(if is_written { underlined_headings(&text) } else { text }))
}

/// The text of a file of at most `bytes_max` bytes. Bytes that are not UTF-8 are shown as such.
fn read(path: &Path, is_compressed: bool, bytes_max: u64) -> Result<String, String> {
    let file = regular(path)?;
    let mut bytes = Vec::new();
    let limit = bytes_max.saturating_add(1);
    let count = if is_compressed {
        MultiGzDecoder::new(file).take(limit).read_to_end(&mut bytes)
    } else {
        file.take(limit).read_to_end(&mut bytes)
    };
    count.map_err(|error| error.to_string())?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > bytes_max {
        return Err(too_large(bytes_max));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A compressed file, unpacked under its own name: its ending tells the format.
fn unpacked(path: &Path, name: &str, bytes_max: u64) -> Result<tempfile::NamedTempFile, String> {
    let failed = |error: io::Error| error.to_string();
    let mut target = tempfile::Builder::new().suffix(&format!("-{name}")).tempfile().map_err(failed)?;
    let mut source = MultiGzDecoder::new(regular(path)?).take(bytes_max.saturating_add(1));
    let bytes = io::copy(&mut source, &mut target).map_err(failed)?;
    if bytes > bytes_max { Err(too_large(bytes_max)) } else { Ok(target) }
}

/// Opens a regular file: opening a pipe would wait for a writer.
fn regular(path: &Path) -> Result<File, String> {
    let metadata = path.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is no regular file".to_owned());
    }
    File::open(path).map_err(|error| error.to_string())
}

fn too_large(bytes_max: u64) -> String {
    format!("it has more than {bytes_max} bytes, which is the limit")
}

/// Headings that are underlined, as in Markdown and reStructuredText, with `#`.
fn underlined_headings(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let level = lines.get(at + 1).and_then(|next| underline(line, next));
        if let Some(level) = level {
            out.push_str(&format!("{} {}\n", "#".repeat(level), line.trim()));
            at += 2;
        } else {
            out.push_str(line);
            out.push('\n');
            at += 1;
        }
    }
    out
}

/// The level of a heading with this line below it.
fn underline(title: &str, line: &str) -> Option<usize> {
    let line = line.trim_end();
    let sign = line.chars().next()?;
    let level = match sign {
        '=' => 1,
        '-' => 2,
        '~' => 3,
        _ => return None,
    };
    let title = title.trim_end();
    let is_title = title.starts_with(char::is_alphanumeric) && title.chars().count() <= 100;
    let is_line = line.chars().count() >= 3 && line.chars().all(|c| c == sign);
    (is_title && is_line).then_some(level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn underlined_headings_are_read() {
        let check = |text: &str, expected: &str| assert_eq!(underlined_headings(text), expected, "{text}");
        check("Title\n=====\ntext\n\nPart\n---\n", "# Title\ntext\n\n## Part\n");
        check("- item\n---\n| a\n---\ntext\n--\n", "- item\n---\n| a\n---\ntext\n--\n");
    }
}
