//! JSON, formatted.

use serde_json::Value;

use crate::{
    content::Text,
    error::FileParseError,
    format::Format,
    options::ReadOptions,
    text::{
        TextSource,
        plain::{empty, of_string, text as plain_text},
    },
};

/// The largest document that is parsed, in bytes: it takes about thirty times as much memory.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The document with indentation, or the part of it at a JSON pointer. A file that is not valid is shown as
/// it is.
pub(crate) fn text(source: &TextSource, options: &ReadOptions) -> Result<Text, FileParseError> {
    let parsed = match source.whole(BYTES_MAX) {
        Ok(text) => serde_json::from_str::<Value>(&text).map_err(|error| format!("not valid JSON: {error}")),
        Err(FileParseError::TooLarge(problem)) => Err(problem),
        Err(fault) => return Err(fault),
    };
    let value = match (parsed, &options.json_pointer) {
        (Ok(value), _) => value,
        (Err(problem), Some(_)) => {
            return Err(FileParseError::Unsupported(format!("cannot be searched: {problem}")));
        }
        (Err(problem), None) => {
            let mut text = plain_text(source, Format::Json, options)?;
            text.notes.push(format!("shown as it is: {problem}"));
            return Ok(text);
        }
    };
    let value = match &options.json_pointer {
        Some(pointer) => part(&value, pointer)?,
        None => &value,
    };
    let pretty = serde_json::to_string_pretty(value).map_err(FileParseError::damaged)?;
    of_string(
        &(pretty + "\n"),
        Text { encoding: Some(source.encoding_name()), ..empty(Format::Json) },
        options,
    )
}

/// The value at a pointer. Where it does not exist, the error says what there is above it.
fn part<'a>(value: &'a Value, pointer: &str) -> Result<&'a Value, FileParseError> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        let problem = "a JSON pointer starts with /, such as /servers/0/name".to_owned();
        return Err(FileParseError::Value { value: pointer.to_owned(), problem });
    }
    if let Some(found) = value.pointer(pointer) {
        return Ok(found);
    }
    let mut parent = pointer;
    while let Some((above, _)) = parent.rsplit_once('/') {
        parent = above;
        if let Some(found) = value.pointer(parent) {
            let available = format!("{:?} is {}", parent, describe(found));
            return Err(FileParseError::Missing { wanted: format!("{pointer:?}"), available });
        }
    }
    Err(FileParseError::Missing { wanted: format!("{pointer:?}"), available: describe(value) })
}

fn describe(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let names: Vec<&str> = fields.keys().take(30).map(String::as_str).collect();
            format!("an object with {} fields: {}", fields.len(), names.join(", "))
        }
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => "a single value".to_owned(),
    }
}
