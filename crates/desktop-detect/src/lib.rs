//! What the accessibility tree lacks, found in pictures: text that a program reads, and boxes that a visual parser
//! finds, merged with the tree into one list of elements that are acted on like any others.
//!
//! - [`Seeing`]: a desktop around another one, whose looks and elements include what was found.
//! - `reading`, `words`: text by `tesseract`; `omniparser`: boxes by HTTP.
//! - `merge`: nothing twice; `registry`: the same words near the same place keep their id.
//!
//! A detector that is missing, slow or wrong makes a notice and never a look that fails. What was found has no
//! interface but its place on the screen: before it is acted on, the place is looked at again.

mod changed;
mod delegate;
#[cfg(test)]
mod element_tests;
mod eyes;
mod merge;
mod omniparser;
mod options;
mod overlap;
mod reading;
mod registry;
mod seeing;
mod words;

pub use deskhand_http::Secret;
pub use options::{DetectOptions, MergeOptions, OcrOptions, OcrUse, OmniparserOptions};
pub use seeing::Seeing;
