//! The replies of small models: titles out of an offer.
//!
//! ```json
//! {"needs": "a calculator", "window": "start Calculator", "task": "Calculate 17 × 243."}
//! {"needs": "the field for the destination", "element": "entry \"To\"", "action": "…", "text": "Vienna"}
//! ```

use super::{ReplyError, extract_json, fields::Fields};
use crate::small::{SmallAppReply, SmallHostReply};

/// Parses the reply of a HostAgent that asks a small model. Whether the title was offered is not checked.
///
/// # Errors
/// If a field is missing or invalid.
pub(crate) fn parse_small_host_reply(text: &str) -> Result<SmallHostReply, ReplyError> {
    let mut fields = Fields::of(extract_json(text)?.value, "")?;
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
    let mut fields = Fields::of(extract_json(text)?.value, "")?;
    Ok(SmallAppReply {
        needs: fields.text("needs")?,
        action: fields.required_text("action", "give one of the actions")?,
        element: fields.text("element")?,
        text: fields.text("text")?,
    })
}
