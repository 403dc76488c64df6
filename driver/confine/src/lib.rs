//! Confines programs by means of the kernel: what a program may read, write, call, use and leave behind.
//!
//! Restrictions cannot be lifted, so helper processes apply them: the caller starts its own binary again, which calls
//! [`run`] with a [`Confinement`].
//!
//! ```text
//! caller ──► supervisor ──► bubblewrap, or a second supervisor ──► restricted process ──► exec PROGRAM
//!            ends all       namespaces, mounts                     limits, Landlock, seccomp
//!            descendants
//! ```
//!
//! This crate knows nothing of agents, desktops or sessions.

mod bubblewrap;
mod calls;
mod cgroup;
mod confinement;
mod descendants;
mod exit;
mod files;
mod limits;
mod parent;
mod places;
mod run;
mod supervisor;
mod support;
mod watch;

pub use confinement::{Confinement, ConfinementLimits, ConfinementStage, Enforcement};
pub use exit::{ConfinedExit, NOT_STARTED, OVER_LIMIT};
pub use places::{folders_with, readable_path};
pub use run::run;
pub use support::{ConfinementSupport, support};
