//! The parts of the system that applications of a virtual desktop cannot see or change: places of secrets,
//! our own files, other desktops, services, and the system.
//!
//! Applications open and save anywhere in the home folder, and leave lock files beside documents, so the
//! home folder stays as it is, and single places in it are covered by mounts of bubblewrap. Landlock cannot
//! do that: a permission for a folder applies to everything in it.

mod places;
mod profile;
mod settings;
mod users;

pub use profile::KeptOut;
pub(crate) use profile::{Profile, SandboxEnvironment};
pub use settings::{Confine, ConfineMode};
pub(crate) use users::NamespaceHolder;
