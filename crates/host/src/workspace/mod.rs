//! The desktop to work on: selection, start, documents to open, and how it outlives its process.
//!
//! - [`WorkspacePlan`] is checked before anything starts; [`Workspace`] is the running desktop.
//! - `documents`: files to open and their programs. `windows`: finds the window that a text names.
//! - `ending`: closes applications as a person would, and finds what is not saved.
//! - `keeper` holds the virtual desktop of a session in its own process; `note` stores the address of that desktop.

mod documents;
mod ending;
mod error;
mod keeper;
mod note;
mod open;
mod plan;
mod windows;

pub use documents::DocumentError;
pub(crate) use documents::{Document, check as check_documents};
pub(crate) use ending::remaining_name;
pub use error::WorkspaceError;
pub use keeper::{KEEPER_ARGUMENTS, hold_desktop};
pub(crate) use note::DesktopNote;
pub use open::Workspace;
pub(crate) use plan::Keep;
pub use plan::WorkspacePlan;
