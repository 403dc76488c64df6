//! `deskhand read-files`, internal: one job on files, in a process that is confined.

use std::io::{self, Read as _, Write as _};

use deskhand_files::{FileJob, FileJobResult};

use crate::exit::{CliError, CommandResult, Exit};

/// The longest job, in bytes.
const JOB_MAX: u64 = 1 << 20;

/// Reads a job as JSON on standard input, does it, and prints what came of it as JSON.
pub(crate) fn read_files() -> CommandResult {
    let failed = |error: io::Error| CliError::failed_to("read a job", error);
    let mut text = String::new();
    io::stdin().take(JOB_MAX).read_to_string(&mut text).map_err(failed)?;
    let done = match serde_json::from_str::<FileJob>(&text) {
        Ok(job) => job.run(),
        Err(error) => FileJobResult::Failed { problem: format!("read the job: {error}") },
    };
    let text =
        serde_json::to_string(&done).map_err(|error| CliError::failed_to("write the result", error))?;
    io::stdout()
        .write_all(text.as_bytes())
        .map_err(|error| CliError::failed_to("write the result", error))?;
    Ok(Exit::Success)
}
