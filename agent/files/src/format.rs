//! Which format a file has: by its content first, then by its name.

use std::{fmt, path::Path};

use serde::{Deserialize, Serialize};

/// A file format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Plain text, source code, Markdown and everything else that is text.
    Text,
    /// Values separated by a delimiter, which is detected.
    Delimited,
    /// JSON.
    Json,
    /// HTML.
    Html,
    /// Portable Document Format.
    Pdf,
    /// Word document (Office Open XML).
    Docx,
    /// Excel workbook (Office Open XML).
    Xlsx,
    /// PowerPoint presentation (Office Open XML).
    Pptx,
    /// Excel 97 workbook.
    Xls,
    /// OpenDocument text.
    Odt,
    /// OpenDocument spreadsheet.
    Ods,
    /// OpenDocument presentation.
    Odp,
    /// ZIP archive.
    Zip,
    /// Tar archive, compressed or not.
    Tar,
    /// One file compressed by gzip, xz or zstd.
    Compressed,
}

impl Format {
    /// Returns the name of the format for messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Delimited => "csv",
            Self::Json => "json",
            Self::Html => "html",
            Self::Pdf => "pdf",
            Self::Docx => "docx",
            Self::Xlsx => "xlsx",
            Self::Pptx => "pptx",
            Self::Xls => "xls",
            Self::Odt => "odt",
            Self::Ods => "ods",
            Self::Odp => "odp",
            Self::Zip => "zip",
            Self::Tar => "tar",
            Self::Compressed => "compressed file",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The format that the first bytes of a file indicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signature {
    /// A ZIP file: an archive or an office document.
    Zip,
    /// A compound file: an old or an encrypted office document.
    Compound,
    Pdf,
    Gzip,
    Xz,
    Zstd,
    Tar,
    /// None that is known: text, or nothing that can be read.
    Other,
}

/// Offset of the magic number in the first header of a tar file.
const TAR_MAGIC: usize = 257;

/// The signature at the beginning of a file; `head` has at least 512 bytes of it, if it is that long.
pub(crate) fn signature(head: &[u8]) -> Signature {
    let starts: [(&[u8], Signature); 8] = [
        (b"PK\x03\x04", Signature::Zip),
        (b"PK\x05\x06", Signature::Zip),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Signature::Compound),
        (b"%PDF-", Signature::Pdf),
        (b"\x1f\x8b", Signature::Gzip),
        (b"\xfd7zXZ\0", Signature::Xz),
        (b"\x28\xb5\x2f\xfd", Signature::Zstd),
        (b"\xef\xbb\xbf%PDF-", Signature::Pdf),
    ];
    let found = starts.iter().find(|(start, _)| head.starts_with(start)).map(|(_, signature)| *signature);
    let is_tar = || head.get(TAR_MAGIC..).is_some_and(|rest| rest.starts_with(b"ustar"));
    found.unwrap_or_else(|| if is_tar() { Signature::Tar } else { Signature::Other })
}

/// The format of a text by its name, and by its first characters where the name says nothing.
pub(crate) fn of_text(path: &Path, start: &str) -> Format {
    match extension(path).as_str() {
        "csv" | "tsv" | "tab" => Format::Delimited,
        "json" | "geojson" | "ipynb" | "webmanifest" => Format::Json,
        "html" | "htm" | "xhtml" => Format::Html,
        "" => of_start(start),
        _ => Format::Text,
    }
}

fn of_start(start: &str) -> Format {
    let start: String = start.trim_start_matches('\u{feff}').trim_start().chars().take(20).collect();
    let start = start.to_ascii_lowercase();
    if start.starts_with("<!doctype html") || start.starts_with("<html") {
        Format::Html
    } else if start.starts_with('{') || start.starts_with('[') {
        Format::Json
    } else {
        Format::Text
    }
}

/// The extension in lower case, empty if there is none.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// The first bytes, for an error message.
pub(crate) fn shown(head: &[u8]) -> String {
    let head = head.get(..head.len().min(16)).unwrap_or_default();
    let digits: Vec<String> = head.iter().map(|byte| format!("{byte:02x}")).collect();
    let letter = |byte: &u8| if byte.is_ascii_graphic() { char::from(*byte) } else { '.' };
    format!("{} ({})", digits.join(" "), head.iter().map(letter).collect::<String>())
}
