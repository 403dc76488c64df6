//! Reads the fields of a reply: lenient about spelling and shape, precise in its errors.

use serde_json::{Map, Value};

use super::{ProposedAction, ReplyError, UserQuestion};

/// Aliases of field names in normalized form.
const ALIASES: &[(&str, &str)] = &[
    ("current_sub_task", "current_subtask"),
    ("sub_task", "current_subtask"),
    ("subtask", "current_subtask"),
    ("args", "arguments"),
    ("parameters", "arguments"),
    ("tool", "function"),
    ("tool_name", "function"),
    ("thoughts", "thought"),
    ("observations", "observation"),
    ("actions", "action"),
    ("question", "questions"),
    ("comments", "comment"),
    ("expectation", "expect"),
    ("expected", "expect"),
    ("note", "notes"),
];

/// A JSON object with normalized keys.
pub(super) struct ReplyFields {
    map: Map<String, Value>,
    path: String,
}

/// Turns `Current Sub-Task` and `CurrentSubTask` into `current_sub_task`, and aliases into the field's name.
fn normalize_key(key: &str) -> String {
    let mut even = String::with_capacity(key.len() + 4);
    let mut before_is_lower = false;
    for c in key.trim().chars() {
        if c.is_alphanumeric() {
            if c.is_uppercase() && before_is_lower {
                even.push('_');
            }
            before_is_lower = c.is_lowercase() || c.is_numeric();
            even.extend(c.to_lowercase());
        } else {
            if !even.ends_with('_') && !even.is_empty() {
                even.push('_');
            }
            before_is_lower = false;
        }
    }
    let even = even.trim_end_matches('_');
    ALIASES.iter().find(|(alias, _)| *alias == even).map_or(even, |(_, name)| name).to_owned()
}

pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Text from a string, number or boolean.
fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

impl ReplyFields {
    pub(super) fn of(value: Value, path: &str) -> Result<Self, ReplyError> {
        let Value::Object(object) = value else {
            let place = if path.is_empty() { "reply" } else { path };
            return Err(ReplyError::field(place, format!("expected an object, found {}", kind_of(&value))));
        };
        let mut map = Map::new();
        for (key, value) in object {
            // The first spelling wins if a reply repeats a field.
            map.entry(normalize_key(&key)).or_insert(value);
        }
        Ok(Self { map, path: path.to_owned() })
    }

    pub(super) fn at(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.map.shift_remove(name).filter(|value| !value.is_null())
    }

    /// Returns `true` if the field is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.map.get(name).is_some_and(|value| !value.is_null())
    }

    /// A string; empty if the field is missing. A list of strings is joined by line breaks.
    pub(super) fn text(&mut self, name: &str) -> Result<String, ReplyError> {
        Ok(self.texts(name)?.join("\n"))
    }

    /// A required string.
    pub(super) fn required_text(&mut self, name: &str, hint: &str) -> Result<String, ReplyError> {
        let text = self.text(name)?;
        if text.is_empty() {
            return Err(ReplyError::field(self.at(name), format!("missing; {hint}")));
        }
        Ok(text)
    }

    /// A string; `None` if the field is missing or empty.
    pub(super) fn optional_text(&mut self, name: &str) -> Result<Option<String>, ReplyError> {
        Ok(Some(self.text(name)?).filter(|text| !text.is_empty()))
    }

    /// A list of strings; a single string counts as a list of one.
    pub(super) fn texts(&mut self, name: &str) -> Result<Vec<String>, ReplyError> {
        let path = self.at(name);
        let Some(value) = self.take(name) else { return Ok(Vec::new()) };
        let items = if let Value::Array(items) = value { items } else { vec![value] };
        let mut texts = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match scalar_text(item) {
                Some(text) if text.is_empty() => {}
                Some(text) => texts.push(text),
                None if item.is_null() => {}
                None => {
                    return Err(ReplyError::field(
                        format!("{path}[{index}]"),
                        format!("expected a string, found {}", kind_of(item)),
                    ));
                }
            }
        }
        Ok(texts)
    }

    /// Any value as text: scalars unquoted, the rest as JSON.
    pub(super) fn any_text(&mut self, name: &str) -> Option<String> {
        let value = self.take(name)?;
        let text = scalar_text(&value).unwrap_or_else(|| value.to_string());
        (!text.is_empty()).then_some(text)
    }

    /// Questions: strings, or objects with `question`, `required`, `default` and `choices`.
    pub(super) fn questions(&mut self, name: &str) -> Result<Vec<UserQuestion>, ReplyError> {
        let path = self.at(name);
        let Some(value) = self.take(name) else { return Ok(Vec::new()) };
        let items = if let Value::Array(items) = value { items } else { vec![value] };
        let mut questions = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            let question = match item {
                Value::Object(_) => {
                    let mut fields = Self::of(item, &format!("{path}[{index}]"))?;
                    let required = fields.take("required").and_then(|value| value.as_bool()).unwrap_or(false);
                    // `question` is an alias of `questions`.
                    let text = fields.text("questions")?;
                    UserQuestion {
                        text: if text.is_empty() { fields.text("text")? } else { text },
                        required,
                        default: fields.any_text("default"),
                        choices: fields.texts("choices")?,
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    UserQuestion::open(scalar_text(&item).unwrap_or_default())
                }
            };
            if !question.text.is_empty() {
                questions.push(question);
            }
        }
        Ok(questions)
    }

    /// The function and its arguments; `None` if there is no function.
    pub(super) fn proposed_action(&mut self) -> Result<Option<ProposedAction>, ReplyError> {
        let function = self.text("function")?;
        let path = self.at("arguments");
        let arguments = match self.take("arguments") {
            None => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            // Some models encode the arguments as a JSON string.
            Some(Value::String(text)) if text.trim().is_empty() => Map::new(),
            Some(Value::String(text)) => serde_json::from_str(&text).map_err(|_| {
                ReplyError::field(&path, "expected an object of arguments, found a string that is not JSON")
            })?,
            Some(Value::Array(items)) if items.is_empty() => Map::new(),
            Some(other) => {
                return Err(ReplyError::field(
                    &path,
                    format!("expected an object of arguments, found {}", kind_of(&other)),
                ));
            }
        };
        let expect = self.optional_text("expect")?;
        let none = matches!(function.to_lowercase().as_str(), "" | "none" | "null" | "no_action");
        Ok((!none).then_some(ProposedAction { function, arguments, expect, carries: Vec::new() }))
    }
}

/// The most notes of one reply.
const NOTES_MAX: usize = 20;

/// The facts that an agent writes down.
pub(super) fn notes(fields: &mut ReplyFields) -> Result<Vec<String>, ReplyError> {
    let mut notes = fields.texts("notes")?;
    notes.truncate(NOTES_MAX);
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalizes_keys_of_both_spellings() {
        let check = |key: &str, expected: &str| assert_eq!(normalize_key(key), expected, "{key}");
        check("Current Sub-Task", "current_subtask");
        check("CurrentSubtask", "current_subtask");
        check("current_subtask", "current_subtask");
        check("ControlLabel", "control_label");
        check("Args", "arguments");
        check("AppsToOpen", "apps_to_open");
        check("  Status ", "status");
        check("SaveScreenshot", "save_screenshot");
    }
}
