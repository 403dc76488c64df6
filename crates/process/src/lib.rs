//! Child programs: finding one, and killing it with all of its descendants.
//!
//! A program may leave its process group and its session, so neither lists its descendants. Each start puts a
//! [`Mark`] into the environment, which descendants inherit. A [`ProcessGroup`] kills the processes with its mark from
//! this process; a [`Guard`] kills them from a process of its own, even if this one is killed.
//!
//! This crate knows nothing of agents, desktops or sandboxes.

mod ended;
mod group;
mod guard;
mod mark;
mod program;

pub use ended::await_ended;
pub use group::ProcessGroup;
pub use guard::{Guard, LEAVINGS, PROGRAMS, STARTING, await_exit, leaving, noted_program};
pub use mark::Mark;
pub use program::{PATH_DEFAULT, find_program, succeeds};
