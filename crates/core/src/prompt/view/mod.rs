//! What an agent sees of a window, as text: listed whole, in pages, or as what changed.
//!
//! An item is `[e17] push button "Finish" (focused)`. Items of the same kind that follow each other stand on one line, with
//! ` | ` between them and their role once; so do the cells of a row. What is usual is not said.

mod changes;
mod items;
mod lines;
mod rank;
mod whole;

pub use changes::changes_text;
pub use items::element_line;
pub use rank::relevant_words;
pub(crate) use whole::split_at_dialog;
pub use whole::{ListOptions, PageQuery, marked_elements, view_page, view_text};
