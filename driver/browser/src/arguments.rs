//! Checks the arguments of a call.

use serde_json::{Map, Value};

use crate::wire::BrowserCallError;

/// The arguments that were not taken yet.
#[derive(Debug)]
pub(crate) struct BrowserArgumentParser {
    left: Map<String, Value>,
    known: Vec<&'static str>,
}

impl BrowserArgumentParser {
    pub(crate) fn new(left: Map<String, Value>) -> Self {
        Self { left, known: Vec::new() }
    }

    /// A whole number in a range.
    pub(crate) fn whole(
        &mut self,
        name: &'static str,
        least: usize,
        most: usize,
    ) -> Result<Option<usize>, BrowserCallError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        value
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
            .filter(|number| (least..=most).contains(number))
            .map(Some)
            .ok_or_else(|| wrong(name, &format!("a whole number from {least} to {most}"), &value))
    }

    pub(crate) fn truth(&mut self, name: &'static str) -> Result<Option<bool>, BrowserCallError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| wrong(name, "true or false", &value))
    }

    pub(crate) fn text(
        &mut self,
        name: &'static str,
        bytes_max: usize,
    ) -> Result<Option<String>, BrowserCallError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match &value {
            Value::String(text) if text.len() <= bytes_max => Ok(Some(text.clone())),
            Value::String(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => Err(wrong(name, &format!("a text of at most {bytes_max} bytes"), &value)),
        }
    }

    /// Refuses arguments that no check has taken.
    pub(crate) fn done(self, tool: &str) -> Result<(), BrowserCallError> {
        let Some(name) = self.left.keys().next() else { return Ok(()) };
        let known = if self.known.is_empty() { "none".to_owned() } else { self.known.join(", ") };
        Err(BrowserCallError::Invalid(format!("{tool} has no argument {name:?}; its arguments are: {known}")))
    }

    /// An argument of `null` counts as absent.
    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.left.remove(name).filter(|value| !value.is_null())
    }
}

/// The error of an argument that is missing.
pub(crate) fn missing(tool: &str, name: &str, expected: &str) -> BrowserCallError {
    BrowserCallError::Invalid(format!("{tool} needs the argument {name:?}: {expected}"))
}

fn wrong(name: &str, expected: &str, value: &Value) -> BrowserCallError {
    let found = crate::wire::cut(&value.to_string(), 60);
    BrowserCallError::Invalid(format!("the argument {name:?} is {found}; expected {expected}"))
}
