//! Files of common formats to text, in this process or where the caller wants it done.

use std::{fmt, path::Path, sync::Arc};

use deskhand_files::{Done, Job, ReadOptions, What};
use serde_json::Value;

/// The most characters of text of one file.
pub(crate) const CHARACTERS_MAX: usize = 2_000_000;

/// Runs a job and says what came of it.
type Run = dyn Fn(Job) -> Done + Send + Sync;

/// Reads HTML, PDF, office and text files as text with headings (`#`).
///
/// Files are hostile. The default reads them in this process, with the limits of `deskhand-files`; a caller that has a confined process
/// for such jobs passes it to [`TextReader::by`].
#[derive(Clone)]
pub struct TextReader {
    run: Arc<Run>,
}

impl TextReader {
    /// Reads in this process.
    #[must_use]
    pub fn in_process() -> Self {
        Self::by(Job::run)
    }

    /// Reads by running jobs elsewhere, such as in a confined process.
    pub fn by(run: impl Fn(Job) -> Done + Send + Sync + 'static) -> Self {
        Self { run: Arc::new(run) }
    }

    /// The text of a file, or why it has none. Blocking.
    pub(crate) fn read(&self, path: &Path) -> Result<String, String> {
        let options =
            ReadOptions { what: What::Text, characters_max: CHARACTERS_MAX, ..ReadOptions::default() };
        match (self.run)(Job::Read { path: path.to_owned(), options }) {
            Done::Ok { output: Value::String(text), .. } => Ok(text),
            Done::Ok { .. } => Err("its text came in an unknown form".to_owned()),
            Done::Failed { problem } => Err(problem),
        }
    }
}

impl Default for TextReader {
    fn default() -> Self {
        Self::in_process()
    }
}

impl fmt::Debug for TextReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextReader")
    }
}
