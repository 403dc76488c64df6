//! Adds exchanges to a cassette.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Seek as _, SeekFrom, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use super::{CASSETTE_MAX, CassetteError, CassetteHeader, Exchange};

/// The file that exchanges are added to.
#[derive(Debug)]
pub(crate) struct CassetteRecorder {
    path: PathBuf,
    file: File,
}

impl CassetteRecorder {
    /// Opens the file of a model, or makes it.
    pub(crate) fn open(path: &Path, label: &CassetteHeader) -> Result<Self, CassetteError> {
        let failed = |source| CassetteError::Io { path: path.to_owned(), source };
        let options = &mut File::options();
        let mut file = options.read(true).append(true).create(true).mode(0o600).open(path).map_err(failed)?;
        // Two processes may begin the same file.
        file.lock().map_err(failed)?;
        let mut first = String::new();
        let mut reader = std::io::Read::take(BufReader::new(&file), CASSETTE_MAX);
        reader.read_line(&mut first).map_err(|_| CassetteError::Other { path: path.to_owned() })?;
        if first.is_empty() {
            writeln!(file, "{}", line(label)).map_err(failed)?;
        } else {
            label.check(&CassetteHeader::read(&first, path)?, path)?;
            end_last_line(&mut file).map_err(failed)?;
        }
        file.unlock().map_err(failed)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Adds an exchange. A failure to write it is logged, and does not fail the question.
    pub(crate) fn add(&self, exchange: &Exchange) {
        if let Err(error) = self.write(exchange) {
            tracing::warn!(cassette = %self.path.display(), %error, "an exchange with the model was not recorded");
        }
    }

    fn write(&self, exchange: &Exchange) -> std::io::Result<()> {
        self.file.lock()?;
        let line = line(exchange);
        let written = if self.file.metadata()?.len() > CASSETTE_MAX.saturating_sub(line.len() as u64) {
            Err(std::io::Error::other(format!("the cassette would exceed {CASSETTE_MAX} bytes")))
        } else {
            (&self.file).write_all(format!("{line}\n").as_bytes())
        };
        self.file.unlock()?;
        written
    }
}

/// Ends a line that a process left unfinished, so that the next one is whole.
fn end_last_line(file: &mut File) -> std::io::Result<()> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    std::io::Read::read_exact(file, &mut last)?;
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}

fn line(value: &impl serde::Serialize) -> String {
    // Strings, numbers and JSON values: nothing that cannot be written.
    serde_json::to_string(value).unwrap_or_default()
}
