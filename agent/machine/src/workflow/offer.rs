//! Description of a workflow that could be run, for agents and people: enough to choose it and to give it
//! values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::file::{Parameter, ParameterKind, Workflow};
use deskhand_ui::text::{clip, one_line};

/// A workflow that can be run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkflowOffer {
    /// Its name.
    pub name: String,
    /// Description of the workflow, in a sentence.
    pub about: String,
    /// The request that it fulfils, with parameters in braces.
    pub request: String,
    /// Values that differ from run to run, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Parameter>,
}

/// A value of a parameter that is missing or cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueProblem {
    /// The name is no parameter.
    #[error("`{name}` is no parameter of {workflow}; its parameters: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The workflow.
        workflow: String,
        /// Its parameters.
        known: String,
    },
    /// A parameter without a default is missing.
    #[error("the parameter `{name}` is missing, for example \"{example}\"")]
    Missing {
        /// The parameter.
        name: String,
        /// A value that it could have.
        example: String,
    },
    /// A number is none.
    #[error("the parameter `{name}` is a number, and `{value}` is none")]
    NoNumber {
        /// The parameter.
        name: String,
        /// Value that was given.
        value: String,
    },
}

/// The values of all parameters of a workflow: what is given, else the defaults.
pub(super) fn values_of(
    workflow: &str,
    parameters: &BTreeMap<String, Parameter>,
    given: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, ValueProblem> {
    if let Some(name) = given.keys().find(|name| !parameters.contains_key(*name)) {
        let names: Vec<&str> = parameters.keys().map(String::as_str).collect();
        let known = if names.is_empty() { "it has none".to_owned() } else { names.join(", ") };
        return Err(ValueProblem::Unknown { name: name.clone(), workflow: workflow.to_owned(), known });
    }
    let mut values = BTreeMap::new();
    for (name, parameter) in parameters {
        let Some(value) = given.get(name).or(parameter.default.as_ref()) else {
            let example = if parameter.example.is_empty() { "VALUE" } else { &parameter.example };
            return Err(ValueProblem::Missing { name: name.clone(), example: example.to_owned() });
        };
        let is_number = value.trim().replace(',', ".").parse::<f64>().is_ok_and(f64::is_finite);
        if parameter.kind == ParameterKind::Number && !is_number {
            return Err(ValueProblem::NoNumber { name: name.clone(), value: value.clone() });
        }
        values.insert(name.clone(), value.clone());
    }
    Ok(values)
}

/// The values in the argument `parameters` of a call, as texts.
///
/// # Errors
/// It is no object, or a value is neither a text nor a number.
pub fn given_values(arguments: &Map<String, Value>) -> Result<BTreeMap<String, String>, String> {
    let fields = match arguments.get("parameters") {
        None | Some(Value::Null) => return Ok(BTreeMap::new()),
        Some(Value::Object(fields)) => fields,
        Some(other) => {
            return Err(format!("`parameters` must be an object with a text for each name, and is {other}"));
        }
    };
    let text = |(name, value): (&String, &Value)| match value {
        Value::String(text) => Ok((name.clone(), text.clone())),
        Value::Number(_) | Value::Bool(_) => Ok((name.clone(), value.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err(format!("the parameter `{name}` must be a text, and is {value}"))
        }
    };
    fields.iter().map(text).collect()
}

impl WorkflowOffer {
    /// The most workflows that a session is offered.
    pub const OFFERS_MAX: usize = 20;
    /// The longest sentence about one, in characters.
    const ABOUT_CHARS_MAX: usize = 160;
    /// The longest value of a parameter that is shown, in characters.
    const VALUE_CHARS_MAX: usize = 40;
    /// Prefix of the name in the id of a target.
    const TARGET: &'static str = "workflow:";

    /// The values of all parameters: what is given, else the defaults.
    ///
    /// # Errors
    /// A name is no parameter, a parameter without a default is missing, or a number is none.
    pub fn values(&self, given: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, ValueProblem> {
        values_of(&self.name, &self.parameters, given)
    }

    /// Its id among the targets of the HostAgent.
    pub fn target_id(&self) -> String {
        format!("{}{}", Self::TARGET, self.name)
    }

    /// The name in the id of a target; `None` if it is that of something else.
    pub fn name_in(id: &str) -> Option<&str> {
        id.trim().strip_prefix(Self::TARGET).map(str::trim)
    }

    /// Formats its description and its parameters on one line: `Order something. Parameters: customer ("Acme")`.
    pub fn line(&self) -> String {
        let short = |text: &str| clip(&one_line(text), Self::VALUE_CHARS_MAX);
        let parameter = |(name, parameter): (&String, &Parameter)| {
            let kind = match parameter.kind {
                ParameterKind::Text => "",
                ParameterKind::Number => "a number, ",
                ParameterKind::File => "a file, ",
            };
            match &parameter.default {
                Some(default) => format!("{name} ({kind}\"{}\" if it is not given)", short(default)),
                None => format!("{name} ({kind}such as \"{}\")", short(&parameter.example)),
            }
        };
        let about = clip(&one_line(&self.about), Self::ABOUT_CHARS_MAX);
        let parameters: Vec<String> = self.parameters.iter().map(parameter).collect();
        if parameters.is_empty() { about } else { format!("{about} Parameters: {}", parameters.join(", ")) }
    }
}

impl Workflow {
    /// Returns the description for whoever could run the workflow.
    pub fn offer(&self) -> WorkflowOffer {
        WorkflowOffer {
            name: self.name.clone(),
            about: self.about.clone(),
            request: self.request.clone(),
            parameters: self.parameters.clone(),
        }
    }
}
