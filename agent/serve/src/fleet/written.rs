//! Fields of a task file that only a fleet uses, in addition to those of a batch.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use deskhand_fleet::{
    plan::{DocumentInput, ForEach, RETRIED, TaskRetryPolicy, deadline_ms, duration_ms, now_ms},
    task::{OnLoss, TaskId, TaskRequirements, TaskSpec},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{stays_inside, submit_error::SubmitError};

/// The fields, each with an example.
const FIELDS: [(&str, &str); 11] = [
    ("needs", r#"{"applications": ["libreoffice-calc"], "labels": ["lab"]}"#),
    ("after", r#"["extract"]"#),
    ("inputs", r#"[{"of": "extract", "document": "table.csv", "as": "data.csv"}]"#),
    ("for_each", r#""rows.csv" or {"of": "extract", "document": "rows.csv"}"#),
    ("priority", "5"),
    ("on_loss", r#""person""#),
    ("labels", r#"["sap"]"#),
    ("attempts_max", "5"),
    ("retry", r#"{"on": ["failed", "error"], "most": 3, "wait": "30s"}"#),
    ("deadline", r#""2026-12-24T18:00Z""#),
    ("within", r#""30m""#),
];

/// The fields that only a fleet uses.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FleetTaskFields {
    needs: TaskRequirements,
    after: BTreeSet<String>,
    inputs: Vec<AskedInput>,
    for_each: Option<Value>,
    priority: u8,
    on_loss: OnLoss,
    labels: BTreeSet<String>,
    attempts_max: Option<u32>,
    retry: Option<AskedRetry>,
    deadline: Option<String>,
    within: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedInput {
    of: String,
    document: String,
    #[serde(rename = "as")]
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedRetry {
    on: Option<BTreeSet<String>>,
    most: u32,
    wait: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedTable {
    of: String,
    document: String,
}

/// The table whose rows become tasks, as it is written.
pub(super) enum TaskRowSource {
    /// A file beside the task.
    Here(String),
    /// A table that another task produces.
    Of(ForEach),
}

/// A field that is not valid: what is wrong with it, and an example.
pub(super) fn wrong(place: &str, field: &str, problem: &str) -> SubmitError {
    // Of `inputs[0].of`, the example is that of `inputs`.
    let name = field.split(['.', '[']).next().unwrap_or(field);
    let example = FIELDS.iter().find(|(known, _)| *known == name);
    let example = example.map(|(_, example)| format!("; write it as `\"{name}\": {example}`"));
    let problem = format!("`{field}`: {problem}{}", example.unwrap_or_default());
    SubmitError::Field { place: place.to_owned(), problem }
}

impl FleetTaskFields {
    /// Takes the fields out of a task.
    pub(super) fn take(place: &str, task: &mut Map<String, Value>) -> Result<Self, SubmitError> {
        let asked: Map<String, Value> =
            FIELDS.iter().filter_map(|(name, _)| Some(((*name).to_owned(), task.remove(*name)?))).collect();
        serde_path_to_error::deserialize(Value::Object(asked))
            .map_err(|error| wrong(place, &error.path().to_string(), &error.inner().to_string()))
    }

    /// Returns the specification of the task in the fleet. `id_of` maps ids.
    pub(super) fn spec(
        &self,
        place: &str,
        id: TaskId,
        id_of: &impl Fn(&str) -> Result<TaskId, SubmitError>,
    ) -> Result<TaskSpec, SubmitError> {
        let mut spec = TaskSpec::new(id);
        spec.after = self.after.iter().map(|id| id_of(id)).collect::<Result<_, _>>()?;
        spec.needs = self.needs.clone();
        if self.priority > 9 {
            return Err(wrong(place, "priority", "it is 0 to 9"));
        }
        spec.priority = self.priority;
        spec.on_loss = self.on_loss;
        spec.labels.clone_from(&self.labels);
        spec.taken_max = self.attempts_max.unwrap_or(spec.taken_max);
        spec.retry = self.retry.as_ref().map(|retry| retry.read(place)).transpose()?;
        spec.deadline_ms = match (&self.deadline, &self.within) {
            (Some(_), Some(_)) => return Err(wrong(place, "within", "there is a `deadline` already")),
            (Some(time), None) => {
                Some(deadline_ms(time).map_err(|error| wrong(place, "deadline", &error.to_string()))?)
            }
            (None, Some(length)) => {
                let length =
                    duration_ms(length).map_err(|error| wrong(place, "within", &error.to_string()))?;
                Some(now_ms().saturating_add(length))
            }
            (None, None) => None,
        };
        Ok(spec)
    }

    /// Returns `true` if its deadline begins to run when it is submitted.
    pub(super) const fn is_timed(&self) -> bool {
        self.within.is_some()
    }

    /// Returns the inputs that the task takes from other tasks.
    pub(super) fn inputs(
        &self,
        place: &str,
        id_of: &impl Fn(&str) -> Result<TaskId, SubmitError>,
    ) -> Result<Vec<DocumentInput>, SubmitError> {
        let mut names = BTreeMap::new();
        let mut read = |(number, input): (usize, &AskedInput)| {
            let name = input.name.as_ref().unwrap_or(&input.document);
            let is_plain = stays_inside(name) && !name.contains('/') && !name.contains('{');
            if !is_plain {
                let problem = format!("`{name}` is no plain name of a file; give it one with `as`");
                return Err(wrong(place, &format!("inputs[{number}]"), &problem));
            }
            if names.insert(name.clone(), number).is_some() {
                let problem = format!("two inputs are called `{name}`; give one another name with `as`");
                return Err(wrong(place, &format!("inputs[{number}]"), &problem));
            }
            Ok(DocumentInput { of: id_of(&input.of)?, document: input.document.clone(), name: name.clone() })
        };
        self.inputs.iter().enumerate().map(&mut read).collect()
    }

    /// The table of whose rows tasks are made.
    pub(super) fn rows(
        &self,
        place: &str,
        id_of: &impl Fn(&str) -> Result<TaskId, SubmitError>,
    ) -> Result<Option<TaskRowSource>, SubmitError> {
        match &self.for_each {
            None => Ok(None),
            Some(Value::String(path)) => Ok(Some(TaskRowSource::Here(path.clone()))),
            Some(other) => {
                let table = AskedTable::deserialize(other)
                    .map_err(|error| wrong(place, "for_each", &error.to_string()))?;
                let of = Some(id_of(&table.of)?);
                Ok(Some(TaskRowSource::Of(ForEach { of, document: table.document, rows: None })))
            }
        }
    }
}

impl AskedRetry {
    fn read(&self, place: &str) -> Result<TaskRetryPolicy, SubmitError> {
        let on = match &self.on {
            Some(on) => on.clone(),
            None => ["failed", "error"].map(ToOwned::to_owned).into(),
        };
        if let Some(unknown) = on.iter().find(|word| !RETRIED.contains(&word.as_str())) {
            let problem = format!("`{unknown}` is none of {}", RETRIED.join(", "));
            return Err(wrong(place, "retry.on", &problem));
        }
        let wait_ms = match &self.wait {
            Some(wait) => {
                duration_ms(wait).map_err(|error| wrong(place, "retry.wait", &error.to_string()))?
            }
            None => 0,
        };
        Ok(TaskRetryPolicy { on, most: self.most, wait_ms })
    }
}

/// Reads the file of a table beside a task.
pub(super) fn read_table(place: &str, path: &Path) -> Result<deskhand_fleet::plan::TaskTable, SubmitError> {
    let bytes = std::fs::read(path)
        .map_err(|error| wrong(place, "for_each", &format!("{}: {error}", path.display())))?;
    deskhand_fleet::plan::TaskTable::read(&bytes)
        .map_err(|error| wrong(place, "for_each", &format!("{}: {error}", path.display())))
}
