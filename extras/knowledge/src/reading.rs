//! Files of common formats to text, in this process or where the caller wants it done.

use std::{fmt, path::Path, sync::Arc};

use deskhand_files::{ContentForm, FileJob, FileJobResult, ReadOptions};
use serde_json::Value;

/// The most characters of text of one file.
pub(crate) const CHARACTERS_MAX: usize = 2_000_000;

/// Runs a job and says what came of it.
type Run = dyn Fn(FileJob) -> FileJobResult + Send + Sync;

/// Reads HTML, PDF, office and text files as text with headings (`#`).
///
/// Files are hostile. The default reads them in this process, with the limits of `deskhand-files`; a caller that has a confined process
/// for such jobs passes it to [`DocumentTextReader::by`].
#[derive(Clone)]
pub struct DocumentTextReader {
    run: Arc<Run>,
}

impl DocumentTextReader {
    /// Reads in this process.
    #[must_use]
    pub fn in_process() -> Self {
        Self::by(FileJob::run)
    }

    /// Reads by running jobs elsewhere, such as in a confined process.
    pub fn by(run: impl Fn(FileJob) -> FileJobResult + Send + Sync + 'static) -> Self {
        Self { run: Arc::new(run) }
    }

    /// The text of a file, or why it has none. Blocking.
    pub(crate) fn read(&self, path: &Path) -> Result<String, String> {
        let options =
            ReadOptions { what: ContentForm::Text, characters_max: CHARACTERS_MAX, ..ReadOptions::default() };
        match (self.run)(FileJob::Read { path: path.to_owned(), options }) {
            FileJobResult::Ok { output: Value::String(text), .. } => Ok(text),
            FileJobResult::Ok { .. } => Err("its text came in an unknown form".to_owned()),
            FileJobResult::Failed { problem } => Err(problem),
        }
    }
}

impl Default for DocumentTextReader {
    fn default() -> Self {
        Self::in_process()
    }
}

impl fmt::Debug for DocumentTextReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextReader")
    }
}
