//! Windows as text for agents: in full, in pages, or as changes.
//!
//! An item is `[e17] push button "Finish" (focused)`. Consecutive items of one role, and the cells of a row, share a line,
//! separated by ` | `, with the role given once. Usual states are omitted.

mod beyond;
mod changes;
mod items;
mod levels;
mod lines;
mod notes;
mod rank;
mod whole;

pub use changes::changes_text;
pub(crate) use items::ListedElement;
pub use items::element_line;
pub use rank::relevant_words;
pub use whole::{PageQuery, ViewListOptions, marked_elements, view_page, view_text};
pub(crate) use whole::{listed_elements, split_at_dialog, titled_elements};
