//! Schema of a source's tool, reduced to the parts used here, and the check of arguments against it.

use deskhand_ui::text::{clip, one_line};
use jsonschema::Validator;
use serde_json::{Map, Value};

/// The longest description of a tool and of an argument, in characters.
pub(super) const TOOL_TEXT_MAX: usize = 300;
const ARGUMENT_TEXT_MAX: usize = 160;
/// The most problems of arguments in a message.
const PROBLEMS_MAX: usize = 3;

/// A schema as it is shown to models: descriptions on one line and clipped. Everything else stays, since arguments are checked by it.
pub(super) fn shown(schema: &Value) -> Value {
    if let Value::Array(items) = schema {
        return Value::Array(items.iter().map(shown).collect());
    }
    let Value::Object(object) = schema else { return schema.clone() };
    let short = |(key, value): (&String, &Value)| {
        let text = value.as_str().filter(|_| key == "description");
        let value = text.map_or_else(|| shown(value), |text| clip(&one_line(text), ARGUMENT_TEXT_MAX).into());
        (key.clone(), value)
    };
    Value::Object(object.iter().map(short).collect())
}

/// The check of the arguments of one tool.
#[derive(Debug)]
pub(super) struct Checker(Validator);

impl Checker {
    /// Takes a schema.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        let validator = jsonschema::validator_for(schema);
        validator.map(Self).map_err(|error| clip(&one_line(&error.to_string()), TOOL_TEXT_MAX))
    }

    /// Checks arguments.
    ///
    /// # Errors
    /// What is wrong with them, with the place.
    pub(super) fn check(&self, arguments: &Map<String, Value>) -> Result<(), String> {
        let arguments = Value::Object(arguments.clone());
        let problem = |error: jsonschema::ValidationError<'_>| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { String::new() } else { format!(" at `{place}`") };
            format!("{}{place}", clip(&one_line(&error.to_string()), TOOL_TEXT_MAX))
        };
        let problems: Vec<String> = self.0.iter_errors(&arguments).take(PROBLEMS_MAX).map(problem).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
    }
}
