//! Report files: complete or not there at all, and readable by their owner only.

use std::{
    fs,
    io::{self, BufWriter, Write as _},
    path::Path,
};

use deskhand_ui::text::escape_hidden_json;

use super::ReportError;

/// A report destination, with a name for errors.
pub(super) struct ReportSink<'a> {
    path: &'a Path,
    out: BufWriter<fs::File>,
}

impl ReportSink<'_> {
    pub(super) fn write(&mut self, text: &str) -> Result<(), ReportError> {
        self.out.write_all(text.as_bytes()).map_err(|source| ReportError::write(self.path, source))
    }

    /// Writes a value as a line of JSON, in which nothing moves the cursor of a terminal that shows the file.
    pub(super) fn json<T: serde::Serialize>(&mut self, value: &T) -> Result<(), ReportError> {
        let text = serde_json::to_string(value).map_err(ReportError::Encode)?;
        self.write(&escape_hidden_json(&text))?;
        self.write("\n")
    }

    /// Writes a value as indented JSON, likewise.
    pub(super) fn pretty_json<T: serde::Serialize>(&mut self, value: &T) -> Result<(), ReportError> {
        let text = serde_json::to_string_pretty(value).map_err(ReportError::Encode)?;
        self.write(&escape_hidden_json(&text))
    }
}

/// Writes a file atomically, readable by its owner only, since a report contains screen content. Special files such as
/// `/dev/stdout` are written directly.
pub(super) fn to_file(
    path: &Path,
    write: impl FnOnce(&mut ReportSink<'_>) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    let failed = |source: io::Error| ReportError::write(path, source);
    if fs::metadata(path).is_ok_and(|file| !file.is_file()) {
        let file = fs::OpenOptions::new().write(true).open(path).map_err(failed)?;
        let mut sink = ReportSink { path, out: BufWriter::new(file) };
        write(&mut sink)?;
        return sink.out.flush().map_err(failed);
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let draft = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let mut sink = ReportSink { path, out: BufWriter::new(draft.reopen().map_err(failed)?) };
    write(&mut sink)?;
    sink.out.flush().map_err(failed)?;
    draft.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
