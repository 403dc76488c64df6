//! A workflow with its values, as a request comes with it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    file::Workflow,
    values::{TemplateError, Values},
};
use crate::provenance::Provenance;

/// Handling of a step whose element is gone, or that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Heal {
    /// The run stops and says what it looked for, and what is there.
    #[default]
    Off,
    /// A model is asked about that one step, and the user about its answer.
    Ask,
    /// A model is asked about that one step.
    Auto,
}

/// A workflow with its values, as a request comes with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkflowRun {
    /// The workflow.
    pub workflow: Workflow,
    /// The values of its parameters.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    /// Handling of a step that cannot be done as written.
    #[serde(default)]
    pub heal: Heal,
    /// Who made it.
    #[serde(default)]
    pub provenance: Provenance,
}

impl WorkflowRun {
    /// The request that it fulfils, with its values.
    ///
    /// # Errors
    /// A value is missing, or a brace has no partner.
    pub fn request(&self) -> Result<String, TemplateError> {
        Values::of(&self.values).fill(&self.workflow.request)
    }

    /// The values that are not what the file itself says: those that were given to it.
    pub fn given(&self) -> impl Iterator<Item = &str> {
        let is_default = |name: &String, value: &String| {
            self.workflow.parameters.get(name).is_some_and(|known| known.default.as_ref() == Some(value))
        };
        let given = self.values.iter().filter(move |(name, value)| !is_default(name, value));
        given.map(|(_, value)| value.as_str())
    }

    /// The documents that are open before the first step.
    ///
    /// # Errors
    /// A value is missing, or a brace has no partner.
    pub fn documents(&self) -> Result<Vec<String>, TemplateError> {
        let values = Values::of(&self.values);
        self.workflow.documents.iter().map(|document| values.fill(document)).collect()
    }
}

/// Returns the label for texts of a workflow that this user has not made.
pub(crate) fn stranger_of(name: &str) -> String {
    format!("the workflow “{name}”, which you have not made or trusted")
}
