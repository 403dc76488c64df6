//! The program that reads files.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_machine::command::{CallResult, CallStatus};
use deskhand_ui::action::{CallReport, Verdict};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{FileCallArgs, FileToolOperation};
use crate::programs::{ProgramRun, ProgramRunner, sandbox::SandboxSettings};

/// Maximum run time of the helper.
const WORK_BOUND: Duration = Duration::from_secs(60);
/// Maximum size of the helper's answer that is retained, in bytes.
const ANSWER_MAX: usize = 1 << 20;

/// Settings for file access.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileSettings {
    /// The program that does a job on files, with its first arguments; it reads the job on stdin.
    pub helper: Vec<String>,
    /// The sandbox of the helper; each job adds what it may read and write.
    pub sandbox: SandboxSettings,
    /// Files and folders that no agent reads or changes: keys, secrets, and our own records.
    pub hidden: Vec<PathBuf>,
}

impl FileSettings {
    /// Returns `true` if a path is, or lies in, a hidden place, by whatever links.
    pub(super) fn is_ours(&self, path: &Path) -> bool {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        self.hidden.iter().any(|hidden| {
            let hidden_real = hidden.canonicalize().unwrap_or_else(|_| hidden.clone());
            real.starts_with(&hidden_real) || path.starts_with(hidden)
        })
    }

    /// Reads a file in the helper: what it read, such as its text. `job` is as the helper reads it.
    ///
    /// # Errors
    /// Why it cannot be read: a fragment that follows "failed to …", or a sentence.
    pub async fn read(&self, job: &Value, path: PathBuf) -> Result<Value, String> {
        let ran = self.answer(job, path, None).await?;
        if ran.status != CallStatus::Success {
            return Err(format!("the program that reads files {}", ran.summary()));
        }
        match done(&ran)? {
            FileHelperOutput::Ok { output, .. } => Ok(output),
            FileHelperOutput::Failed { problem } => Err(problem),
        }
    }

    /// Has the helper do a job; it can read one path, and write to another.
    async fn answer(
        &self,
        job: &Value,
        reads: PathBuf,
        writes: Option<PathBuf>,
    ) -> Result<CallResult, String> {
        let (program, arguments) =
            self.helper.split_first().ok_or("no program is configured that reads files")?;
        let own = tempfile::tempdir()
            .map_err(|error| format!("no folder for the program that reads files: {error}"))?;
        let mut sandbox = self.sandbox.clone();
        sandbox.read.extend([reads, PathBuf::from(program)]);
        sandbox.write.extend(writes);
        let runner = ProgramRunner::new(sandbox, None, Vec::new(), own.path())?;
        let folder = runner.folder().to_owned();
        let run = ProgramRun {
            program,
            arguments,
            folder: &folder,
            input: job.to_string().into_bytes(),
            limit: WORK_BOUND,
            kept: (ANSWER_MAX, 0),
        };
        Ok(runner.run(run).await)
    }
}

/// The output of the helper.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FileHelperOutput {
    Ok { said: String, output: Value },
    Failed { problem: String },
}

/// Has the helper do a job.
pub(super) async fn run(
    settings: &FileSettings,
    work: FileToolOperation,
    given: &FileCallArgs<'_>,
) -> CallResult {
    let Some(path) = given.path("path") else { return given.refused("`path` is needed".to_owned()) };
    let mut job = match job(work, &path, given) {
        Ok(job) => job,
        Err(why) => return given.refused(why),
    };
    if matches!(work, FileToolOperation::List | FileToolOperation::Search)
        && let Some(options) = job.get_mut("options")
    {
        spare(options, &path, settings, given);
    }
    let into = given.path("into").filter(|_| work == FileToolOperation::Unpack);
    let writes = into.as_deref().and_then(Path::parent).map(Path::to_owned);
    match settings.answer(&job, path, writes).await {
        Ok(ran) => answered(given, into, &ran).await,
        Err(problem) => given.refused(problem),
    }
}

/// Has a walk through a folder leave out places of secrets, unless it begins in one, and outside of the home folder what not everybody
/// may read.
fn spare(options: &mut Value, path: &Path, settings: &FileSettings, given: &FileCallArgs<'_>) {
    let places = given.places.secret_places().into_iter().map(PathBuf::from);
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let outside = |place: &PathBuf| !path.starts_with(place) && !real.starts_with(place);
    let without: Vec<PathBuf> = places.filter(outside).chain(settings.hidden.iter().cloned()).collect();
    options["without"] = json!(without);
    options["public_only"] = json!(!given.places.is_in_folder(&path.to_string_lossy()));
}

/// Returns the result for an archive that the helper reports as unpacked. Checks it by counting the files of the
/// folder, independently of the helper.
async fn unpacked(said: String, into: &Path, result: CallResult) -> CallResult {
    let folder = into.to_owned();
    let counted = tokio::task::spawn_blocking(move || contents(&folder)).await;
    let (files, bytes) = counted.ok().and_then(Result::ok).unwrap_or_default();
    let said_of = |name: &str| result.output.get(name).and_then(Value::as_u64);
    let is_there = said_of("files") == Some(files) && said_of("bytes") == Some(bytes);
    let read_back = format!("{} has {files} files with {bytes} bytes", into.display());
    CallResult {
        status: if is_there { CallStatus::Success } else { CallStatus::Failure },
        effect: Some(if is_there { Verdict::Seen } else { Verdict::NotSeen }),
        report: CallReport::Native { did: said, read_back: Some(read_back) },
        ..result
    }
}

/// Counts the files in a folder and their bytes. Blocking.
fn contents(folder: &Path) -> io::Result<(u64, u64)> {
    let (mut files, mut bytes) = (0, 0);
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let data = entry.metadata()?;
            if data.is_dir() {
                folders.push(entry.path());
            } else {
                files += 1;
                bytes += if data.is_symlink() { 0 } else { data.len() };
            }
        }
    }
    Ok((files, bytes))
}

async fn answered(given: &FileCallArgs<'_>, into: Option<PathBuf>, ran: &CallResult) -> CallResult {
    if ran.status != CallStatus::Success {
        let why = format!("the program that reads files {}", ran.summary());
        return if ran.effect == Some(Verdict::Refused) { given.refused(why) } else { given.failed(why) };
    }
    match done(ran) {
        Ok(FileHelperOutput::Ok { said, output }) => {
            let result = CallResult { status: CallStatus::Success, output, ..CallResult::failure(None, "") };
            match into {
                Some(into) => unpacked(said, &into, result).await,
                None => CallResult { report: CallReport::text(said), ..result },
            }
        }
        Ok(FileHelperOutput::Failed { problem }) => given.refused(format!("failed to {problem}")),
        Err(problem) => given.failed(problem),
    }
}

/// Parses the output of the helper.
fn done(ran: &CallResult) -> Result<FileHelperOutput, String> {
    let printed = ran.output.get("stdout").and_then(Value::as_str).unwrap_or_default();
    serde_json::from_str(printed)
        .map_err(|error| format!("the program that reads files said something else: {error}"))
}

/// The job as the helper reads it.
fn job(work: FileToolOperation, path: &Path, given: &FileCallArgs<'_>) -> Result<Value, String> {
    let mut options: Map<String, Value> = Map::new();
    let mut copy = |name: &str, option: &str| {
        if let Some(value) = given.arguments.get(name).filter(|value| !value.is_null()) {
            options.insert(option.to_owned(), value.clone());
        }
    };
    Ok(match work {
        FileToolOperation::Read => {
            copy("sheet", "sheet");
            copy("range", "cells");
            copy("json_pointer", "json_pointer");
            for name in ["lines", "pages"] {
                if let Some(text) = given.text(name) {
                    options.insert(name.to_owned(), span(name, text)?);
                }
            }
            json!({"job": "read", "path": path, "options": options})
        }
        FileToolOperation::List => {
            copy("glob", "glob");
            copy("depth", "depth_max");
            copy("hidden", "hidden");
            json!({"job": "list", "path": path, "options": options})
        }
        FileToolOperation::Search => {
            copy("glob", "glob");
            copy("documents", "documents");
            let kind = if given.flag("regex") { "regex" } else { "plain" };
            let pattern = json!({kind: given.text("text").unwrap_or_default()});
            options.insert("ignore_case".to_owned(), true.into());
            json!({"job": "search", "path": path, "pattern": pattern, "options": options})
        }
        FileToolOperation::ListArchive => json!({"job": "list_archive", "path": path}),
        FileToolOperation::Unpack | FileToolOperation::Write | FileToolOperation::Move => {
            copy("glob", "glob");
            let into = given.path("into").ok_or("`into` is needed")?;
            json!({"job": "unpack", "path": path, "into": into, "options": options})
        }
    })
}

/// `3`, `3-9` or `3-` as numbers from 1.
fn span(name: &str, text: &str) -> Result<Value, String> {
    let wrong = || format!("`{name}` has to be such as 1-200, and is {text}");
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    let (first, last) = match text.split_once('-') {
        Some((first, "")) => (number(first)?, None),
        Some((first, last)) => (number(first)?, Some(number(last)?)),
        None => (number(text)?, Some(number(text)?)),
    };
    Ok(json!({"first": first, "last": last}))
}
