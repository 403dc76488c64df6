//! Extracts the JSON from a model reply and repairs what has a single possible reading.
//!
//! Steps, each tried only if the one before found nothing:
//!
//! 1. Strip a byte order mark and parse the whole text as strict JSON. Valid JSON is returned unchanged, with one
//!    exception (see [`Repair::WindowsPath`]).
//! 2. Scan the text for top-level objects: prose, code fences and `<think>` blocks are skipped, strings are
//!    respected. Each candidate is parsed strictly, then leniently with the repairs of [`Repair`]. The last
//!    non-empty object wins. If the last candidate cannot be parsed, that is the error: an earlier object may be a
//!    draft, and acting on a draft is worse than asking again. Inside an unclosed `<think>` block an object counts
//!    only if nothing follows it.
//! 3. Scan the text after the last `</think>` in the same way.
//!
//! Pure, bounded in size, depth and work, and never panics. The value still has to be checked against a schema.

use serde_json::Value;

use super::{
    error::{ExtractError, TEXT_MAX},
    repair::{Repair, Repairs},
    search::{JsonSearch, after_reasoning},
    windows_path,
};

/// The JSON extracted from a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtractedJson {
    /// The value.
    pub value: Value,
    /// The repairs, each once, in order of first use; empty for strict JSON.
    pub repaired: Vec<Repair>,
}

/// Extracts the JSON from a reply. Strict JSON of any kind is returned unchanged; otherwise the last object (or list
/// of objects) in the text, repaired if it has a single possible reading.
///
/// # Errors
/// If there is none, or the last one cannot be read; the message says what is wrong and where.
pub fn extract_json(text: &str) -> Result<ExtractedJson, ExtractError> {
    if text.len() > TEXT_MAX {
        return Err(ExtractError::TooLong { bytes: text.len(), max: TEXT_MAX });
    }
    let mut repairs = Repairs::default();
    let body = match text.trim_start().strip_prefix('\u{feff}') {
        Some(rest) => {
            repairs.note(Repair::ByteOrderMark);
            rest
        }
        None => text,
    };
    if body.trim().is_empty() {
        return Err(ExtractError::Empty);
    }
    if let Ok(value) = serde_json::from_str::<Value>(body) {
        return Ok(finish(value, repairs));
    }
    let found = match JsonSearch::new(body).run() {
        Ok(found) => found,
        Err(error) => {
            // Reasoning whose opening tag was in the prompt can contain anything, such as an unclosed quote.
            let Some(Ok(found)) = after_reasoning(body).map(|rest| JsonSearch::new(rest).run()) else {
                return Err(error);
            };
            repairs.note(Repair::Reasoning);
            found
        }
    };
    repairs.extend(found.repairs);
    Ok(finish(found.value, repairs))
}

fn finish(mut value: Value, mut repairs: Repairs) -> ExtractedJson {
    if windows_path::restore_paths(&mut value) {
        repairs.note(Repair::WindowsPath);
    }
    ExtractedJson { value, repaired: repairs.into_vec() }
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
