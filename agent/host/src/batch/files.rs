//! Task files: plans to follow, and the tasks of a batch or a fleet. Each is read once, and knows who made it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use deskhand_machine::workflow::{StepConsequence, SummaryLine, WorkflowSummary};
use deskhand_runtime::{InstructionKind, SealFolder};

use super::{
    Task, TaskError,
    task::{written, written_for_fleet},
};
use crate::instructions::Instructions;

/// The most tasks in a folder or file.
const TASKS_MAX: usize = 10_000;
/// The largest file that is read, in bytes.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The most texts of tasks that a summary shows.
const SHOWN_MAX: usize = 30;

/// Reads a task: its text, its file, its place in messages, and its id if it names none.
type ReadTask = fn(&str, &Path, &str, &str) -> Result<Task, TaskError>;

/// A task as it stands in a file, before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenTask {
    /// A JSON object.
    pub text: String,
    /// Its place: `tasks.jsonl:3`.
    pub place: String,
    /// Its id if it names none: of a file its name, of a line its number.
    pub name: String,
    /// The file, and its number among those that were read.
    file: PathBuf,
    number: usize,
}

impl WrittenTask {
    /// The folder of its file, from where its relative paths start.
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }
}

/// The files of tasks or plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFiles {
    path: PathBuf,
    kind: InstructionKind,
    files: Vec<Instructions>,
    written: Vec<WrittenTask>,
}

impl TaskFiles {
    /// Reads the tasks of a folder (`*.json`, `*.txt`), or of a file: JSON lines, one object (`.json`), or one request (`.txt`). Plans are
    /// JSON objects alone. Without `seals`, all are strangers'.
    ///
    /// # Errors
    /// [`TaskError`] if the folder or a file cannot be read, or has too many tasks.
    pub fn read(path: &Path, kind: InstructionKind, seals: Option<&SealFolder>) -> Result<Self, TaskError> {
        let mut read = Self { path: path.to_owned(), kind, files: Vec::new(), written: Vec::new() };
        let is_plan = kind == InstructionKind::Plan;
        if path.is_dir() {
            let extensions = if is_plan { &["json"][..] } else { &["json", "txt"] };
            for (extension, file) in files_of(path, extensions)? {
                read.file(&file, &extension, seals)?;
            }
        } else {
            let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
            let extension = extension.filter(|_| !is_plan).unwrap_or_default();
            read.file(path, if is_plan { "json" } else { &extension }, seals)?;
        }
        if read.written.len() > TASKS_MAX {
            return Err(TaskError::TooMany { path: path.to_owned(), most: TASKS_MAX });
        }
        Ok(read)
    }

    fn file(&mut self, path: &Path, extension: &str, seals: Option<&SealFolder>) -> Result<(), TaskError> {
        let failed = |source| TaskError::Read { path: path.to_owned(), source };
        let read = Instructions::read(path, self.kind, BYTES_MAX, seals).map_err(failed)?;
        let text = read.text().map_err(failed)?;
        let (number, place) = (self.files.len(), path.display().to_string());
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let written = |text: String, place: String, name: String| WrittenTask {
            text,
            place,
            name,
            file: path.to_owned(),
            number,
        };
        match extension {
            "json" => self.written.push(written(text.to_owned(), place, name)),
            "txt" => {
                let text = serde_json::json!({ "request": text.trim() }).to_string();
                self.written.push(written(text, place, name));
            }
            _ => {
                let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
                let lines = lines.take(TASKS_MAX + 1).map(|(index, line)| {
                    let number = index + 1;
                    written(line.to_owned(), format!("{place}:{number}"), format!("line-{number}"))
                });
                self.written.extend(lines);
            }
        }
        self.files.push(read);
        Ok(())
    }

    /// The file or folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The tasks as they are written.
    pub fn written(&self) -> &[WrittenTask] {
        &self.written
    }

    /// Returns `true` if the user has made or trusts all of them.
    pub fn are_users(&self) -> bool {
        self.files.iter().all(|file| file.provenance.is_users())
    }

    /// Seals what was read, as something that the user has looked at and trusts.
    ///
    /// # Errors
    /// A seal cannot be written.
    pub fn trust(&mut self, seals: &SealFolder) -> Result<(), TaskError> {
        self.files.iter_mut().try_for_each(|file| {
            let path = file.path.clone();
            file.trust(seals).map_err(|source| TaskError::Seal { path, source })
        })
    }

    /// Summarizes the tasks that the user has neither made nor trusts.
    ///
    /// # Errors
    /// A task is not valid.
    pub fn summary(&self) -> Result<WorkflowSummary, TaskError> {
        let is_plan = self.kind == InstructionKind::Plan;
        let tasks = self.tasks_read_by(if is_plan { written } else { written_for_fleet })?;
        let strangers: Vec<&Task> = tasks.iter().filter(|task| !task.provenance().is_users()).collect();
        let mut lines: Vec<SummaryLine> = strangers.iter().flat_map(|task| task.told()).collect();
        let texts: Vec<&str> = strangers.iter().flat_map(|task| task.texts()).collect();
        lines.extend(texts.iter().take(SHOWN_MAX).map(|text| SummaryLine::new(StepConsequence::Asks, text)));
        if let Some(more) = texts.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
            let text = format!("… and {more} more texts; see {}", self.path.display());
            lines.push(SummaryLine::new(StepConsequence::Asks, &text));
        }
        Ok(WorkflowSummary::new(lines))
    }

    /// The tasks, each with who made its file.
    ///
    /// # Errors
    /// [`TaskError`] with the file, line and field.
    pub(crate) fn tasks(&self) -> Result<Vec<Task>, TaskError> {
        self.tasks_read_by(written)
    }

    fn tasks_read_by(&self, read: ReadTask) -> Result<Vec<Task>, TaskError> {
        let task = |one: &WrittenTask| {
            let provenance = self.files.get(one.number).map(|file| file.provenance).unwrap_or_default();
            Ok(read(&one.text, &one.file, &one.place, &one.name)?.made_by(provenance))
        };
        let tasks = self.written.iter().map(task).collect::<Result<Vec<Task>, TaskError>>()?;
        if self.kind == InstructionKind::Plan
            && let Some(task) = tasks.iter().find(|task| !task.is_plan())
        {
            return Err(TaskError::NoSteps { place: task.place.clone() });
        }
        checked(tasks, &self.path)
    }
}

/// The files of a folder with one of these extensions, sorted by name, each with its extension.
fn files_of(folder: &Path, extensions: &[&str]) -> Result<Vec<(String, PathBuf)>, TaskError> {
    let entries =
        fs::read_dir(folder).map_err(|source| TaskError::Folder { path: folder.to_owned(), source })?;
    let mut files: Vec<(String, PathBuf)> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .filter_map(|path| Some((path.extension()?.to_string_lossy().to_lowercase(), path)))
        .filter(|(extension, _)| extensions.contains(&extension.as_str()))
        .take(TASKS_MAX + 1)
        .collect();
    files.sort_by(|(_, one), (_, other)| one.cmp(other));
    Ok(files)
}

fn checked(tasks: Vec<Task>, path: &Path) -> Result<Vec<Task>, TaskError> {
    if tasks.is_empty() {
        return Err(TaskError::Nothing { path: path.to_owned() });
    }
    let mut places = BTreeMap::new();
    for task in &tasks {
        if let Some(other) = places.insert(task.id().to_lowercase(), &task.place) {
            return Err(TaskError::SameId {
                id: task.id().to_owned(),
                first: other.clone(),
                second: task.place.clone(),
            });
        }
    }
    Ok(tasks)
}
