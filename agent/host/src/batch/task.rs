//! A task: a plan to follow, or a task of a batch or a fleet.

use std::path::{Path, PathBuf};

use deskhand_machine::{
    provenance::Provenance,
    session::FollowerPlan,
    workflow::{StepConsequence, SummaryLine},
};
use deskhand_runtime::people::UserRequest;
use serde::{Deserialize, de::DeserializeOwned};

use super::TaskError;
use crate::{
    session::SessionPlan,
    workspace::{MissingFilePolicy, check_documents, hosts_of, in_folder},
};

/// The fields of a task that is run here.
const TASK_FIELDS: [&str; 8] = ["request", "task", "id", "open", "limits", "steps", "object", "close"];
/// The longest id of a task, in characters. Ids are used as file names.
const ID_CHARS_MAX: usize = 100;

/// One task from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The id, usable as a file name.
    pub(super) id: String,
    /// The place of its definition: `tasks.jsonl:3`.
    pub(super) place: String,
    said: TaskDefinition,
    /// Who made its file.
    provenance: Provenance,
    /// The folder that relative paths of its documents start from.
    folder: PathBuf,
}

/// The JSON object of a task. `task`, `steps`, `object` and `close` make a plan.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskDefinition {
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

    /// The same task of a file that somebody made. Without this it is a stranger's.
    #[must_use]
    pub fn made_by(self, provenance: Provenance) -> Self {
        Self { provenance, ..self }
    }

    /// Who made its file.
    pub(super) const fn provenance(&self) -> Provenance {
        self.provenance
    }

    /// Returns `true` if it has steps.
    pub(super) fn is_plan(&self) -> bool {
        !self.said.steps.is_empty()
    }

    /// Describes the task apart from its request and its steps: the files it opens, and the hosts and recipients
    /// it names.
    pub(super) fn told(&self) -> Vec<SummaryLine> {
        let place = &self.place;
        let opened = self.said.open.iter().map(|file| file.display().to_string());
        let opened = opened.chain(self.said.object.clone());
        let mut lines: Vec<SummaryLine> = opened
            .map(|file| SummaryLine::new(StepConsequence::Opens, &format!("{file} ({place})")))
            .collect();
        for text in self.texts().chain(lines.clone().iter().map(|line| line.text.as_str())) {
            lines.extend(SummaryLine::reached(text, place));
        }
        lines
    }

    /// Returns the texts that agents are requested to do.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.said.request).chain(&self.said.steps).map(String::as_str)
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
        let said = of_value(value.clone(), place)?;
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
    pub(crate) fn plan(&self, base: &SessionPlan) -> Result<SessionPlan, TaskError> {
        let mut plan = base.clone();
        let mut files: Vec<PathBuf> =
            self.said.open.iter().map(|file| in_folder(&self.folder, file)).collect();
        // What a plan works on is a document beside it, or something that the HostAgent finds or starts.
        files
            .extend(self.said.object.iter().map(|name| self.folder.join(name)).filter(|file| file.is_file()));
        let documents = check_documents(&files, MissingFilePolicy::Refused)
            .map_err(|source| TaskError::Document { place: self.place.clone(), source })?;
        if self.provenance.is_users() {
            plan.config.opened.extend(hosts_of(&documents));
        }
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
            ..FollowerPlan::of_file(self.provenance)
        });
        // A request of a stranger's file is not the user's.
        let strange = (!self.provenance.is_users()).then(|| FollowerPlan::of_file(self.provenance));
        let follow = follow.or(strange);
        plan.requests = vec![UserRequest { text: self.said.request.clone(), plan: follow }];
        Ok(plan)
    }
}

/// A task as it is written at a place of a file; `name` is its id if it has none.
pub(super) fn written(text: &str, path: &Path, place: &str, name: &str) -> Result<Task, TaskError> {
    task(parse(text, place)?, path, place.to_owned(), name)
}

/// The same of a task of a fleet, without the fields that the fleet reads: where and when it runs, and what it is given.
pub(super) fn written_for_fleet(text: &str, path: &Path, place: &str, name: &str) -> Result<Task, TaskError> {
    let mut fields: serde_json::Map<String, serde_json::Value> = parse(text, place)?;
    fields.retain(|name, _| TASK_FIELDS.contains(&name.as_str()));
    task(of_value(fields.into(), place)?, path, place.to_owned(), name)
}

fn parse<T: DeserializeOwned>(text: &str, place: &str) -> Result<T, TaskError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut reader)
        .and_then(|said: T| match reader.end() {
            Ok(()) => Ok(said),
            Err(error) => {
                Err(serde_path_to_error::Error::new(serde_path_to_error::Track::new().path(), error))
            }
        })
        .map_err(|error| form_error(&error, place))
}

fn of_value(value: serde_json::Value, place: &str) -> Result<TaskDefinition, TaskError> {
    serde_path_to_error::deserialize(value).map_err(|error| form_error(&error, place))
}

fn form_error(error: &serde_path_to_error::Error<serde_json::Error>, place: &str) -> TaskError {
    let path = error.path().to_string();
    let field = if path == "." { String::new() } else { format!("`{path}` in ") };
    TaskError::Form { place: place.to_owned(), field, problem: error.inner().to_string() }
}

fn task(mut said: TaskDefinition, path: &Path, place: String, name: &str) -> Result<Task, TaskError> {
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
    Ok(Task { id, place, said, provenance: Provenance::default(), folder })
}

/// Turns a text into a file name that is safe everywhere.
fn tidy(name: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let tidy: String = name.chars().map(keep).take(ID_CHARS_MAX).collect();
    let tidy = tidy.trim_start_matches('.').to_owned();
    if tidy.is_empty() { "task".to_owned() } else { tidy }
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
