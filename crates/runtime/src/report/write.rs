//! Writes report files.

use std::{
    fs,
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
    str::FromStr,
};

use super::{ReportError, html::write_html, jsonl::write_jsonl, markdown::write_markdown, ufo::write_ufo};
use crate::journal::SessionFolder;

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
        fs::create_dir_all(parent).map_err(|source| ReportError::write(parent, source))?;
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

/// A report destination, with a name for errors.
pub(super) struct Sink<'a> {
    path: &'a Path,
    out: BufWriter<fs::File>,
}

impl Sink<'_> {
    pub(super) fn write(&mut self, text: &str) -> Result<(), ReportError> {
        self.out.write_all(text.as_bytes()).map_err(|source| ReportError::write(self.path, source))
    }

    /// Writes a value as a line of JSON.
    pub(super) fn json<T: serde::Serialize>(&mut self, value: &T) -> Result<(), ReportError> {
        let text = serde_json::to_string(value).map_err(ReportError::Encode)?;
        self.write(&text)?;
        self.write("\n")
    }
}

/// Writes a file atomically, readable by its owner only, since a report contains screen content. Special files such as
/// `/dev/stdout` are written directly.
pub(super) fn to_file(
    path: &Path,
    write: impl FnOnce(&mut Sink<'_>) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    let failed = |source: io::Error| ReportError::write(path, source);
    if fs::metadata(path).is_ok_and(|file| !file.is_file()) {
        let file = fs::OpenOptions::new().write(true).open(path).map_err(failed)?;
        let mut sink = Sink { path, out: BufWriter::new(file) };
        write(&mut sink)?;
        return sink.out.flush().map_err(failed);
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let draft = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let mut sink = Sink { path, out: BufWriter::new(draft.reopen().map_err(failed)?) };
    write(&mut sink)?;
    sink.out.flush().map_err(failed)?;
    draft.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
