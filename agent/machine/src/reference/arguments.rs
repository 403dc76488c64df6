//! Strict parsing of the arguments of a reference tool.

use serde_json::{Map, Value};

/// The arguments not yet taken.
pub(super) struct RemainingArguments<'a> {
    tool: &'a str,
    left: Map<String, Value>,
    known: Vec<&'static str>,
}

/// Problem with an argument, and its correction.
pub(super) type Problem = String;

impl<'a> RemainingArguments<'a> {
    pub(super) fn of(tool: &'a str, arguments: &Map<String, Value>) -> Self {
        Self { tool, left: arguments.clone(), known: Vec::new() }
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.left.shift_remove(name).filter(|value| !value.is_null())
    }

    fn wrong(&self, name: &str, expected: &str, found: &Value) -> Problem {
        format!("{}: `{name}` must be {expected}, not `{found}`", self.tool)
    }

    fn missing(&self, name: &str, hint: &str) -> Problem {
        format!("{}: `{name}` is missing; {hint}", self.tool)
    }

    /// An optional id: `e17`, `17` or a number, as written.
    pub(super) fn id(&mut self) -> Result<Option<Value>, Problem> {
        match self.take("id") {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(id @ (Value::String(_) | Value::Number(_))) => Ok(Some(id)),
            Some(other) => Err(self.wrong("id", "the id of an element, such as \"e17\"", &other)),
        }
    }

    /// A required id.
    pub(super) fn required_id(&mut self) -> Result<Value, Problem> {
        self.id()?.ok_or_else(|| self.missing("id", "give the id of an element, such as \"e17\""))
    }

    /// An optional string.
    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<String>, Problem> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(self.wrong(name, "a string", &other)),
        }
    }

    /// A required string.
    pub(super) fn required_text(&mut self, name: &'static str, hint: &str) -> Result<String, Problem> {
        self.text(name)?.ok_or_else(|| self.missing(name, hint))
    }

    /// The expected name of an element; the reference uses an empty one for unnamed elements.
    pub(super) fn name(&mut self) -> Result<Option<String>, Problem> {
        Ok(self.text("name")?.filter(|name| !name.trim().is_empty()))
    }

    /// A boolean, also as a string, which some models write.
    pub(super) fn flag(&mut self, name: &'static str, default: bool) -> Result<bool, Problem> {
        match self.take(name) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => Err(self.wrong(name, "true or false", &other)),
        }
    }

    /// An integer, also as a string; 0 if missing.
    pub(super) fn whole(&mut self, name: &'static str) -> Result<i64, Problem> {
        let Some(value) = self.take(name) else { return Ok(0) };
        let number = match &value {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        number.ok_or_else(|| self.wrong(name, "an integer", &value))
    }

    /// One of `words`; the first if missing.
    pub(super) fn word(
        &mut self,
        name: &'static str,
        words: &[&'static str],
    ) -> Result<&'static str, Problem> {
        let Some(said) = self.text(name)? else { return Ok(words.first().copied().unwrap_or_default()) };
        let found = words.iter().find(|word| word.eq_ignore_ascii_case(said.trim())).copied();
        found.ok_or_else(|| self.wrong(name, &format!("one of {}", words.join(", ")), &Value::String(said)))
    }

    /// Fails if an argument is left over.
    pub(super) fn end(self) -> Result<(), Problem> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => {
                Err(format!("{} has no argument `{name}`; it takes {}", self.tool, self.known.join(", ")))
            }
        }
    }
}
