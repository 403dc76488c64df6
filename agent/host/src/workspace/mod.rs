//! The desktop to work on: selection, start, documents to open, and how it outlives its process.
//!
//! - [`WorkspacePlan`] is checked before anything starts; [`Workspace`] is the running desktop.
//! - `documents`: what to open, and with which programs; `open` opens all of it in one go. `windows`: finds the window that a text names.
//! - `ending`: closes applications as a person would, and finds what is not saved.
//! - `keeper` holds the virtual desktop of a session in its own process; `note` stores the address of that desktop.

mod blank;
mod documents;
mod ending;
mod error;
mod keeper;
mod note;
mod open;
mod plan;
mod windows;

pub use documents::DocumentError;
pub(crate) use documents::{
    MissingFilePolicy, OpenableDocument, check as check_documents, hosts_of, in_folder,
};
pub(crate) use ending::remaining_name;
pub use error::WorkspaceError;
pub use keeper::{KEEPER_ARGUMENTS, hold_desktop};
pub(crate) use note::DesktopNote;
pub use open::Workspace;
pub(crate) use plan::Keep;
pub use plan::WorkspacePlan;
