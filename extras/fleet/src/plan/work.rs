//! Work items of workers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::task::TaskId;

/// A document that a task takes from another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentInput {
    /// The task that leaves it. Of a task with rows: each of its rows.
    pub of: TaskId,
    /// Its name there.
    pub document: String,
    /// Its name here.
    #[serde(rename = "as")]
    pub name: String,
}

/// The work of a worker: the task as a batch has it, its documents, and its inputs from other tasks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskPayload {
    /// The task, with the names of its documents in place of their paths.
    pub task: Value,
    /// Its documents: names without folders, and the hashes under which they are stored.
    #[serde(default)]
    pub documents: BTreeMap<String, String>,
    /// Inputs from the tasks that it comes after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<DocumentInput>,
    /// `true` if its agents receive the folder in which files to send back have to be. Omitted if `false`, as
    /// earlier versions read it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_folder: bool,
}

impl TaskPayload {
    /// The texts that values are put into: the request, the steps of a plan, and names of documents of other tasks.
    ///
    /// # Errors
    /// Those of `change`.
    pub(super) fn each_text<E>(
        &mut self,
        change: &mut impl FnMut(&mut String, FillContext) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(task) = self.task.as_object_mut() {
            for (name, value) in task {
                match (name.as_str(), value) {
                    ("request" | "task", Value::String(text)) => change(text, FillContext::Said)?,
                    ("steps", Value::Array(steps)) => {
                        for step in steps {
                            if let Value::String(text) = step {
                                change(text, FillContext::Said)?;
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        self.inputs.iter_mut().try_for_each(|input| change(&mut input.document, FillContext::Name))
    }
}

/// The place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FillContext {
    /// Agents read it: values are marked as data.
    Said,
    /// The text is a name.
    Name,
}
