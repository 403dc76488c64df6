//! The replies of small models: titles out of an offer.
//!
//! ```json
//! {"needs": "a calculator", "window": "start Calculator", "task": "Calculate 17 × 243."}
//! {"needs": "the field for the destination", "element": "entry \"To\"", "action": "…", "text": "Vienna"}
//! {"customer": "Acme", "count": "12"}
//! ```

use serde_json::Value;

use super::{ReplyError, extract_json, fields::ReplyFields};
use crate::small::{SmallAppReply, SmallHostReply, SmallValuesReply};

/// Parses the reply of a HostAgent that asks a small model. Whether the title was offered is not checked.
///
/// # Errors
/// If a field is missing or invalid.
pub(crate) fn parse_small_host_reply(text: &str) -> Result<SmallHostReply, ReplyError> {
    let mut fields = ReplyFields::of(extract_json(text)?.value, "")?;
    Ok(SmallHostReply {
        needs: fields.text("needs")?,
        window: fields.required_text("window", "give one of the titles")?,
        task: fields.text("task")?,
    })
}

/// Parses the reply of an AppAgent that asks a small model. Whether action and element were offered is not checked.
///
/// # Errors
/// If a field is missing or invalid.
pub(crate) fn parse_small_app_reply(text: &str) -> Result<SmallAppReply, ReplyError> {
    let mut fields = ReplyFields::of(extract_json(text)?.value, "")?;
    Ok(SmallAppReply {
        needs: fields.text("needs")?,
        action: fields.required_text("action", "give one of the actions")?,
        element: fields.text("element")?,
        text: fields.text("text")?,
    })
}

/// Parses the values of a workflow that a small model gives. Whether they are its values is not checked.
///
/// # Errors
/// It is no object, or a value is neither a text nor a number.
pub(crate) fn parse_small_values_reply(text: &str) -> Result<SmallValuesReply, ReplyError> {
    let Value::Object(fields) = extract_json(text)?.value else {
        return Err(ReplyError::field("values", "give a JSON object with a text for each value"));
    };
    let text = |(name, value): (String, Value)| match value {
        Value::String(text) => Ok((name, text)),
        Value::Number(_) | Value::Bool(_) => Ok((name, value.to_string())),
        Value::Null => Ok((name, String::new())),
        Value::Array(_) | Value::Object(_) => {
            Err(ReplyError::field("values", format!("`{name}` must be a text")))
        }
    };
    fields.into_iter().map(text).collect::<Result<_, _>>().map(SmallValuesReply)
}
