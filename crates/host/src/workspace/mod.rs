//! The desktop to work on: which one, how it is started, what is opened on it, and how it outlives its process.
//!
//! - [`WorkspacePlan`] is what was decided and checked before anything starts; [`Workspace`] is the desktop that is up.
//! - `documents`: files to open, and the programs for them. `windows`: which window a text means.
//! - `keeper` holds the virtual desktop of a session in a process of its own; `note` says where that desktop is.

mod documents;
mod error;
mod keeper;
mod note;
mod open;
mod plan;
mod windows;

pub use documents::DocumentError;
pub(crate) use documents::{Document, check as check_documents};
pub use error::WorkspaceError;
pub use keeper::{KEEPER_ARGUMENTS, hold_desktop};
pub(crate) use note::DesktopNote;
pub use open::Workspace;
pub(crate) use plan::Keep;
pub use plan::WorkspacePlan;
