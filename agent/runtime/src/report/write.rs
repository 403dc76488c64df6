//! The formats, and writing a report in one of them.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use super::{
    ReportError, html::write_html, jsonl::write_jsonl, markdown::write_markdown, sink::to_file,
    ufo::write_ufo,
};
use crate::{journal::SessionFolder, private};

/// A report format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReportFormat {
    /// One self-contained page.
    Html,
    /// The trajectory as Markdown, with pictures in a folder.
    Markdown,
    /// One line of JSON per step.
    Jsonl,
    /// A folder of logs in the format of the reference implementation.
    Ufo,
}

impl ReportFormat {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Html, Self::Markdown, Self::Jsonl, Self::Ufo];

    /// The name on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "markdown",
            Self::Jsonl => "jsonl",
            Self::Ufo => "ufo",
        }
    }

    /// The default file name in the session folder.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Html => "report.html",
            Self::Markdown => "report.md",
            Self::Jsonl => "report.jsonl",
            Self::Ufo => "report-ufo",
        }
    }
}

impl FromStr for ReportFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|format| format.word() == text.trim()).ok_or_else(|| {
            let words = Self::ALL.map(Self::word).join(", ");
            format!("unknown report format `{text}`; formats: {words}")
        })
    }
}

/// Writes the report of a session and returns its path. Without `output`, it goes into the session folder.
///
/// # Errors
/// [`ReportError`] if the journal cannot be read or the report cannot be written. An unfinished session is not an error:
/// the report says where it ends.
pub fn write_report(
    folder: &SessionFolder,
    format: ReportFormat,
    output: Option<&Path>,
) -> Result<PathBuf, ReportError> {
    let path = output.map_or_else(|| folder.path().join(format.file_name()), Path::to_owned);
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        private::create_folders(parent).map_err(|source| ReportError::write(parent, source))?;
    }
    match format {
        ReportFormat::Html => to_file(&path, |out| write_html(folder, out))?,
        ReportFormat::Jsonl => to_file(&path, |out| write_jsonl(folder, out))?,
        ReportFormat::Markdown => {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("report");
            let pictures = path.with_file_name(format!("{stem}-pictures"));
            to_file(&path, |out| write_markdown(folder, out, &pictures))?;
        }
        ReportFormat::Ufo => write_ufo(folder, &path)?,
    }
    Ok(path)
}
