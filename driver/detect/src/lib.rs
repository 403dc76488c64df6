//! Finds what the accessibility tree lacks in pictures: text by OCR, and boxes by a visual parser. Both are merged
//! with the tree into one list of elements.
//!
//! - [`DetectingDesktop`]: a desktop around another one, whose looks and elements include what was detected.
//! - `reading`: text, by a model in the program `deskhand-local` (`model`) or by the program `tesseract` (`tesseract`, `words`);
//!   `omniparser`: boxes by HTTP.
//! - `merge`: removes duplicates; `registry`: the same text near the same position keeps its id.
//!
//! A detector that is missing, slow or wrong causes a notice, never a failed look. A detected element has no
//! interface but its position on the screen, so that position is checked again before an action.

mod changed;
mod delegate;
#[cfg(test)]
mod element_tests;
mod error;
mod eyes;
mod languages;
mod merge;
mod model;
mod omniparser;
mod options;
mod overlap;
mod reading;
mod registry;
mod seeing;
mod tesseract;
mod words;

pub use deskhand_http::HttpCredential;
pub use languages::unread_language;
pub use options::{DetectOptions, MergeOptions, OcrOptions, OcrUse, OmniparserOptions};
pub use seeing::DetectingDesktop;
