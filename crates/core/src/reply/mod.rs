//! Replies of a model: from the text that came to the JSON in it.

mod extract;
mod lenient;
mod lookahead;
mod windows_path;

pub use extract::{ExtractError, Extracted, Repair, extract_json};
