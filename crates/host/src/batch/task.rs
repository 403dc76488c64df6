//! Task files: plans to follow, and the tasks of a batch.

use std::{
    fs,
    path::{Path, PathBuf},
};

use deskhand_core::session::FollowerPlan;
use deskhand_runtime::people::Request;
use serde::Deserialize;

use super::TaskError;
use crate::{
    session::Plan,
    workspace::{Missing, check_documents, hosts_of, in_folder},
};

/// The most tasks in a folder or file.
const TASKS_MAX: usize = 10_000;
/// The longest id of a task, in characters. Ids are used as file names.
const ID_CHARS_MAX: usize = 100;

/// One task from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The id, usable as a file name.
    pub(super) id: String,
    /// Where it is defined: `tasks.jsonl:3`.
    pub(super) place: String,
    said: Said,
    /// The folder that relative paths of its documents start from.
    folder: PathBuf,
}

/// The JSON object of a task. `task`, `steps`, `object` and `close` make a plan.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    #[serde(alias = "task")]
    request: String,
    id: Option<String>,
    #[serde(default)]
    open: Vec<PathBuf>,
    #[serde(default)]
    limits: SaidLimits,
    #[serde(default)]
    steps: Vec<String>,
    object: Option<String>,
    #[serde(default)]
    close: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidLimits {
    steps_max: Option<u32>,
    model_calls_max: Option<u32>,
    tokens_max: Option<u64>,
    minutes_max: Option<u64>,
}

impl Task {
    /// Its id, usable as a file name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The request.
    pub fn request(&self) -> &str {
        &self.said.request
    }

    /// A task of a JSON object, as it stands in a file. Relative paths of its documents start from `folder`; `place` is what errors name.
    ///
    /// # Errors
    /// [`TaskError`] with the field.
    pub fn of_json(
        value: &serde_json::Value,
        place: &str,
        id: &str,
        folder: &Path,
    ) -> Result<Self, TaskError> {
        let said = parse(&value.to_string(), place)?;
        task(said, &folder.join(id), place.to_owned(), id)
    }

    /// The documents that it names, with relative paths from where its file is.
    pub fn documents(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let object = self.said.object.iter().map(|name| self.folder.join(name)).filter(|file| file.is_file());
        self.said.open.iter().map(|file| in_folder(&self.folder, file)).chain(object)
    }

    /// The plan of its session, derived from `base`.
    ///
    /// # Errors
    /// A document cannot be opened.
    pub(crate) fn plan(&self, base: &Plan) -> Result<Plan, TaskError> {
        let mut plan = base.clone();
        let mut files: Vec<PathBuf> =
            self.said.open.iter().map(|file| in_folder(&self.folder, file)).collect();
        // What a plan works on is a document beside it, or something that the HostAgent finds or starts.
        files
            .extend(self.said.object.iter().map(|name| self.folder.join(name)).filter(|file| file.is_file()));
        let documents = check_documents(&files, Missing::Refused)
            .map_err(|source| TaskError::Document { place: self.place.clone(), source })?;
        plan.config.opened.extend(hosts_of(&documents));
        plan.workspace.documents.extend(documents);
        plan.workspace.close_after = self.said.close;
        let (limits, said) = (&mut plan.config.limits, &self.said.limits);
        limits.steps_max = said.steps_max.unwrap_or(limits.steps_max);
        limits.model_calls_max = said.model_calls_max.unwrap_or(limits.model_calls_max);
        limits.tokens_max = said.tokens_max.or(limits.tokens_max);
        limits.wall_ms_max =
            said.minutes_max.map(|minutes| minutes.saturating_mul(60_000)).or(limits.wall_ms_max);
        let follow = (!self.said.steps.is_empty()).then(|| FollowerPlan {
            object: self.said.object.clone(),
            steps: self.said.steps.clone(),
            ..FollowerPlan::default()
        });
        plan.requests = vec![Request { text: self.said.request.clone(), plan: follow }];
        Ok(plan)
    }
}

/// The plans of a file or a folder.
///
/// # Errors
/// [`TaskError`] with the file and field.
pub(crate) fn read_plans(path: &Path) -> Result<Vec<Task>, TaskError> {
    let written: Vec<WrittenTask> = if path.is_dir() {
        files_of(path, &["json"])?.iter().map(|(_, file)| json_file(file)).collect::<Result<_, _>>()?
    } else {
        vec![json_file(path)?]
    };
    not_too_many(written.len(), path)?;
    let tasks = written.iter().map(WrittenTask::task).collect::<Result<Vec<Task>, TaskError>>()?;
    for task in &tasks {
        if task.said.steps.is_empty() {
            return Err(TaskError::NoSteps { place: task.place.clone() });
        }
    }
    checked(tasks, path)
}

/// The tasks of a folder, or of a file of JSON lines.
///
/// # Errors
/// [`TaskError`] with the file, line and field.
pub(crate) fn read_tasks(path: &Path) -> Result<Vec<Task>, TaskError> {
    let tasks = WrittenTask::read_all(path)?.iter().map(WrittenTask::task).collect::<Result<_, _>>()?;
    checked(tasks, path)
}

/// A task as it stands in a file, before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenTask {
    /// A JSON object.
    pub text: String,
    /// Where it is: `tasks.jsonl:3`.
    pub place: String,
    /// Its id if it names none: of a file its name, of a line its number.
    pub name: String,
    /// The file.
    file: PathBuf,
}

impl WrittenTask {
    /// The tasks of a folder (`*.json`, `*.txt`), or of a file: JSON lines, one object (`.json`), or one request (`.txt`).
    ///
    /// # Errors
    /// [`TaskError`] if the folder or a file cannot be read, or has too many tasks.
    pub fn read_all(path: &Path) -> Result<Vec<Self>, TaskError> {
        let all = Self::read_some(path)?;
        not_too_many(all.len(), path)?;
        Ok(all)
    }

    /// All tasks, or more than there may be.
    fn read_some(path: &Path) -> Result<Vec<Self>, TaskError> {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            _ if path.is_dir() => {
                let files = files_of(path, &["json", "txt"])?;
                files
                    .iter()
                    .map(|(kind, file)| if kind == "txt" { text_file(file) } else { json_file(file) })
                    .collect()
            }
            Some("json") => Ok(vec![json_file(path)?]),
            Some("txt") => Ok(vec![text_file(path)?]),
            Some(_) | None => json_lines(path),
        }
    }

    /// The folder of its file, from where its relative paths start.
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    fn task(&self) -> Result<Task, TaskError> {
        task(parse(&self.text, &self.place)?, &self.file, self.place.clone(), &self.name)
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

fn read(path: &Path) -> Result<String, TaskError> {
    fs::read_to_string(path).map_err(|source| TaskError::Read { path: path.to_owned(), source })
}

fn text_file(path: &Path) -> Result<WrittenTask, TaskError> {
    let text = serde_json::json!({ "request": read(path)?.trim() }).to_string();
    Ok(WrittenTask { text, place: path.display().to_string(), name: stem(path), file: path.to_owned() })
}

fn json_file(path: &Path) -> Result<WrittenTask, TaskError> {
    let text = read(path)?;
    Ok(WrittenTask { text, place: path.display().to_string(), name: stem(path), file: path.to_owned() })
}

fn json_lines(path: &Path) -> Result<Vec<WrittenTask>, TaskError> {
    let text = read(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let written = |(index, line): (usize, &str)| {
        let number = index + 1;
        let place = format!("{}:{number}", path.display());
        WrittenTask { text: line.to_owned(), place, name: format!("line-{number}"), file: path.to_owned() }
    };
    Ok(lines.take(TASKS_MAX + 1).map(written).collect())
}

fn parse(text: &str, place: &str) -> Result<Said, TaskError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut reader)
        .and_then(|said: Said| match reader.end() {
            Ok(()) => Ok(said),
            Err(error) => {
                Err(serde_path_to_error::Error::new(serde_path_to_error::Track::new().path(), error))
            }
        })
        .map_err(|error| {
            let path = error.path().to_string();
            let field = if path == "." { String::new() } else { format!("`{path}` in ") };
            TaskError::Form { place: place.to_owned(), field, problem: error.inner().to_string() }
        })
}

fn task(mut said: Said, path: &Path, place: String, name: &str) -> Result<Task, TaskError> {
    said.request = said.request.trim().to_owned();
    if said.request.is_empty() {
        return Err(TaskError::EmptyRequest { place });
    }
    if let Some(number) = said.steps.iter().position(|step| step.trim().is_empty()) {
        return Err(TaskError::EmptyStep { place, number });
    }
    let id = match &said.id {
        None => tidy(name),
        Some(id) if *id == tidy(id) => id.clone(),
        Some(id) => {
            return Err(TaskError::Id { place, id: id.clone(), instead: tidy(id) });
        }
    };
    let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    Ok(Task { id, place, said, folder })
}

/// Turns a text into a file name that is safe everywhere.
fn tidy(name: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let tidy: String = name.chars().map(keep).take(ID_CHARS_MAX).collect();
    let tidy = tidy.trim_start_matches('.').to_owned();
    if tidy.is_empty() { "task".to_owned() } else { tidy }
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

fn not_too_many(tasks: usize, path: &Path) -> Result<(), TaskError> {
    if tasks > TASKS_MAX {
        return Err(TaskError::TooMany { path: path.to_owned(), most: TASKS_MAX });
    }
    Ok(())
}

fn checked(tasks: Vec<Task>, path: &Path) -> Result<Vec<Task>, TaskError> {
    if tasks.is_empty() {
        return Err(TaskError::Nothing { path: path.to_owned() });
    }
    let mut places = std::collections::BTreeMap::new();
    for task in &tasks {
        if let Some(other) = places.insert(task.id.to_lowercase(), &task.place) {
            return Err(TaskError::SameId {
                id: task.id.clone(),
                first: other.clone(),
                second: task.place.clone(),
            });
        }
    }
    Ok(tasks)
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
