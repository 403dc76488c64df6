//! Saving documents, proven by their files.
//!
//! - `saving` waits until a file is written: changed since the action began, complete, and no mark of unsaved changes left.
//! - `questions` answers what an application asks while it saves: the format, the file that exists.
//! - `save` saves to the document's own file, `save_as` to another one.

mod questions;
mod save;
mod save_as;
mod saving;

pub(crate) use questions::Answers;
pub use save::save;
pub use save_as::{SaveAs, save_as};
pub(crate) use saving::{Saved, Saving};
