//! Child programs: finding one, and killing it with all of its descendants.
//!
//! A program may leave its process group and its session, so neither lists its descendants. Each start puts a
//! [`ProcessMark`] into the environment, which descendants inherit. A [`ProcessGroup`] kills the processes with its mark from
//! this process; a [`Guard`] kills them from a process of its own, even if this one is killed.
//!
//! This crate knows nothing of agents, desktops or sandboxes.

mod ended;
mod group;
mod guard;
mod mark;
mod peer;
mod program;

pub use ended::await_ended;
pub use group::ProcessGroup;
pub use guard::{Guard, LEAVINGS, OWN_FOLDER, PROGRAMS, STARTING, await_exit, leaving, noted_program};
pub use mark::ProcessMark;
pub use peer::{PeerRefusal, check_peer, give_up_privileges, without_new_privileges};
pub use program::{PATH_DEFAULT, find_helper, find_program, succeeds};
