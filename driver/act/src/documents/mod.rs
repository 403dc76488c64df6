//! Saving documents, proven by their files, and choosing files to open.
//!
//! - `saving` waits until a file is written: changed since the action began, complete, and no mark of unsaved changes left.
//! - `questions` answers what an application asks while it saves: the format, the file that exists.
//! - `file_dialog` enters the name in the dialog for a file; `choose_file` chooses one there to be opened.
//! - `save` saves to the document's own file, `save_as` to another one.

mod choose_file;
mod file_dialog;
mod questions;
mod save;
mod save_as;
mod saving;

pub use choose_file::choose_file;
pub(crate) use questions::SaveDialogAnswers;
pub use save::save;
pub use save_as::{SaveAsOptions, save_as};
pub(crate) use saving::{DocumentSaveOutcome, DocumentSaveWait};
