//! `cargo xtask bench endurance`: real sessions with random faults, each in namespaces of its own.
//!
//! ```text
//! command    starts one process per run, in new mount, PID and IPC namespaces, and counts
//!   one      a run: a session, its fault, what is left, `verify`, `resume`, what is left, `replay`
//!     fault    what goes wrong, and when
//!     place    folders, settings and commands of a run
//!     model    an endpoint that carries the request out, and looks before it repeats something
//!     home     what changed in the home folder
//!     left     mounts, processes and files before and after, and their permissions
//!     judge    what the journal, the commands and the files on disk say
//! ```
//!
//! All processes of a run are in its PID namespace and all mounts in its mount namespace, so what is left is seen exactly, and
//! is gone when the run ends.

mod command;
mod fault;
mod home;
mod judge;
mod left;
mod model;
mod one;
mod place;

pub(super) use command::{EnduranceArguments, run};
