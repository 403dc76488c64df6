//! A workflow as a person reads, edits and keeps it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    offer::{ValueProblem, values_of},
    selector::{NamePattern, Selector},
    values::{TemplateError, names_in, names_in_value},
};
use crate::known_tools::RUN_WORKFLOW;

/// The version of the format that this code writes.
pub const FORMAT: u32 = 1;

/// A task that was done once, and is done again without a model.
///
/// Texts may have parameters and saved values in braces: `{quarter}`, `{table.0.1}`. `{{` and `}}` stand for braces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// The version of the format.
    pub format: u32,
    /// Its name: letters, digits and hyphens.
    pub name: String,
    /// Description of the workflow, in a sentence.
    pub about: String,
    /// The request that it fulfils, with parameters in braces.
    pub request: String,
    /// The documents that are open before the first step, with parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
    /// Source that it was learnt from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learnt: Option<WorkflowOrigin>,
    /// Values that differ from run to run, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Parameter>,
    /// Dialogs that may come at any time, and what is pressed in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dialogs: Vec<DialogRule>,
    /// Steps, in order.
    pub steps: Vec<WorkflowStep>,
}

/// Source that a workflow was learnt from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowOrigin {
    /// The id of the session.
    pub session: String,
    /// `true` if a person demonstrated it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub demonstrated: bool,
    /// The day, as in 2026-11-30.
    pub on: String,
}

/// Kind of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    /// Any text.
    #[default]
    Text,
    /// A number.
    Number,
    /// The path of a file.
    File,
}

/// Something that differs from run to run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Purpose of the parameter.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Kind of the parameter.
    #[serde(default)]
    pub kind: ParameterKind,
    /// Its value in the session that the workflow was learnt from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub example: String,
    /// Its value if none is given; without one it has to be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// A dialog that may come at any time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DialogRule {
    /// Subject of the rule.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Control that is pressed in the dialog. Its scope identifies the dialog.
    pub press: Selector,
}

/// The window that a step works in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepWindow {
    /// The root of its application.
    pub application: String,
    /// The display name of its application, by which it is started if no window is open.
    pub name: String,
    /// Pattern of its title, to tell several windows of one application apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<NamePattern>,
}

/// Required outcome of a step.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StepExpectation {
    /// The title of the dialog or window that opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opens: Option<String>,
    /// `true` if the effect need not be seen, because it was not when the step was learnt.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unseen: bool,
}

impl StepExpectation {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// The rows that steps are repeated for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EachRow {
    /// The saved value that has the rows: a name, or a path such as `table.rows`.
    pub of: String,
    /// The name of a row in the steps: `{row.0}`.
    #[serde(rename = "as")]
    pub called: String,
    /// Number of rows omitted at the top, such as a header.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skip: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A step of a workflow: one call, or steps that are repeated.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkflowStep {
    /// Description of the step, for people.
    pub about: String,
    /// The tool; empty if the steps inside are repeated.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// `true` if the step is skipped when its target is missing, such as a dialog that does not always open.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub maybe: bool,
    /// The name under which what it returns is saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub save: Option<String>,
    /// The window; `None` for tools of the HostAgent.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    pub window: Option<StepWindow>,
    /// Its arguments, other than elements.
    #[serde(rename = "with", skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
    /// Required outcome.
    #[serde(skip_serializing_if = "StepExpectation::is_nothing")]
    pub expect: StepExpectation,
    /// The elements that it is aimed at, by the names of the arguments.
    #[serde(rename = "on", skip_serializing_if = "BTreeMap::is_empty")]
    pub aims: BTreeMap<String, Selector>,
    /// The rows that the steps inside are repeated for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<EachRow>,
    /// The steps inside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<WorkflowStep>,
}

/// A workflow that cannot be run as it is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkflowError {
    /// Written in a later version of the format.
    #[error("format {found} is newer than this program, which reads up to {FORMAT}; update it")]
    Version {
        /// The version.
        found: u32,
    },
    /// The name has other characters.
    #[error("`{name}` is no name of a workflow; use letters, digits and hyphens, such as `quarterly-chart`")]
    Name {
        /// The name.
        name: String,
    },
    /// A text is written wrongly.
    #[error("step {step}: {problem}")]
    Text {
        /// The step.
        step: String,
        /// Problem in the text.
        problem: TemplateError,
    },
    /// A text names what does not exist.
    #[error("step {step} names `{{{name}}}`, which is no parameter and was not saved before")]
    Unknown {
        /// The step.
        step: String,
        /// The name.
        name: String,
    },
    /// A step neither calls nor repeats anything.
    #[error("step {step} has no `call`, and no `each` with `steps`")]
    Empty {
        /// The step.
        step: String,
    },
    /// A step runs a workflow.
    #[error("step {step} runs a workflow; put its steps here")]
    Nested {
        /// The step.
        step: String,
    },
    /// There is nothing to do.
    #[error("it has no steps")]
    NoSteps,
    /// A parameter is missing or no parameter.
    #[error("{0}")]
    Values(String),
}

impl Workflow {
    /// The most steps, with those inside.
    pub const STEPS_MAX: usize = 2_000;

    /// Returns `true` if a text is a name of a workflow.
    pub fn is_name(name: &str) -> bool {
        let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(is_inner)
            && name.len() <= 64
    }

    /// Checks what the types do not enforce.
    ///
    /// # Errors
    /// [`WorkflowError`] names the step.
    pub fn check(&self) -> Result<(), WorkflowError> {
        if self.format > FORMAT {
            return Err(WorkflowError::Version { found: self.format });
        }
        if !Self::is_name(&self.name) {
            return Err(WorkflowError::Name { name: self.name.clone() });
        }
        if self.steps.is_empty() {
            return Err(WorkflowError::NoSteps);
        }
        let mut known: BTreeSet<String> = self.parameters.keys().cloned().collect();
        check_steps(&self.steps, "", &mut known)
    }

    /// The values of all parameters: what is given, else the defaults.
    ///
    /// # Errors
    /// A name is no parameter, a parameter without a default is missing, or a number is none. The message names it and says what there is.
    pub fn values(
        &self,
        given: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, WorkflowError> {
        values_of(&self.name, &self.parameters, given).map_err(|problem| {
            WorkflowError::Values(match problem {
                ValueProblem::Missing { name, example } => {
                    format!("the parameter `{name}` is missing; give it as --{name} \"{example}\"")
                }
                ValueProblem::Unknown { .. } | ValueProblem::NoNumber { .. } => problem.to_string(),
            })
        })
    }

    /// The texts that its steps enter and name, as they are written.
    pub fn texts(&self) -> Vec<String> {
        fn texts(steps: &[WorkflowStep], into: &mut Vec<String>) {
            for step in steps {
                step.arguments.values().for_each(|value| strings_in(value, into));
                texts(&step.steps, into);
            }
        }
        let mut all = self.documents.clone();
        texts(&self.steps, &mut all);
        all
    }

    /// The names of the applications that it works in.
    pub fn applications(&self) -> BTreeSet<String> {
        fn applications(steps: &[WorkflowStep], into: &mut BTreeSet<String>) {
            for step in steps {
                let window = step.window.iter();
                into.extend(window.flat_map(|window| [window.application.clone(), window.name.clone()]));
                applications(&step.steps, into);
            }
        }
        let mut all = BTreeSet::new();
        applications(&self.steps, &mut all);
        all
    }

    /// The names of its tools, each once.
    pub fn tools(&self) -> BTreeSet<String> {
        fn tools(steps: &[WorkflowStep], into: &mut BTreeSet<String>) {
            for step in steps {
                into.extend(Some(step.call.clone()).filter(|call| !call.is_empty()));
                tools(&step.steps, into);
            }
        }
        let mut all = BTreeSet::new();
        tools(&self.steps, &mut all);
        all
    }

    /// Returns the number of calls, counting each repeated one once.
    pub fn calls(&self) -> usize {
        fn count(steps: &[WorkflowStep]) -> usize {
            steps.iter().map(|step| usize::from(!step.call.is_empty()) + count(&step.steps)).sum()
        }
        count(&self.steps)
    }
}

fn strings_in(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings_in(value, into)),
        Value::Object(fields) => fields.values().for_each(|value| strings_in(value, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Checks steps; `known` are the parameters, and what was saved before.
fn check_steps(
    steps: &[WorkflowStep],
    outer: &str,
    known: &mut BTreeSet<String>,
) -> Result<(), WorkflowError> {
    for (number, step) in (1..).zip(steps) {
        let label = if outer.is_empty() { number.to_string() } else { format!("{outer}.{number}") };
        if step.call.is_empty() && (step.each.is_none() || step.steps.is_empty()) {
            return Err(WorkflowError::Empty { step: label });
        }
        // A workflow that runs others could run itself without an end.
        if step.call == RUN_WORKFLOW {
            return Err(WorkflowError::Nested { step: label });
        }
        let text = |problem| WorkflowError::Text { step: label.clone(), problem };
        let mut named = BTreeSet::new();
        for value in step.arguments.values() {
            named.extend(names_in_value(value).map_err(text)?);
        }
        for selector in step.aims.values() {
            for part in selector.texts() {
                named.extend(names_in(&part).map_err(text)?);
            }
        }
        named.extend(step.each.iter().map(|each| each.of.split('.').next().unwrap_or_default().to_owned()));
        if let Some(name) = named.into_iter().find(|name| !known.contains(name)) {
            return Err(WorkflowError::Unknown { step: label, name });
        }
        known.extend(step.save.clone());
        let mut inside = known.clone();
        inside.extend(step.each.iter().map(|each| each.called.clone()));
        check_steps(&step.steps, &label, &mut inside)?;
    }
    Ok(())
}
