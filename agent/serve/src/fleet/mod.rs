//! Tasks of a fleet as sessions of this machine.
//!
//! - [`tasks`]: from files of tasks to tasks of a fleet, with their documents.
//! - [`worker`]: takes tasks as long as there is room, and runs each as a session.
//! - `runner`: one of these sessions; `copies` stores its journal and files while it runs, and `moved` makes a folder of what another
//!   machine stored.
//! - `written`: what the file of a task asks of a fleet; `inputs`: what a task takes from others.
//! - `admission`: which tasks it takes; `rows`: which signed task that of a row follows from; `presence`: that other workers know that it
//!   is there; `figures`: its counters, and [`metrics`]: these for Prometheus.
//! - [`watchdog`]: ends a worker that was stopped for too long.
//! - [`machines`]: agents that are workers of the fleet, for sessions of this machine.
//! - [`view`]: what the tasks of a fleet have come to, [`watched`] as that changes; [`costs`]: what they took, by label and batch. [`again`]: sends one once more.
//! - [`overview`]: the same as rows of the table of sessions, [`followed`] as they change. [`mirror`]: one of these sessions as a folder of
//!   this machine, while somebody looks at it; `news` is what they hear of it. [`wish`]: what they may want of it.
//! - `show` and `asking`: what a worker does for those who look: frames of its desktop, and what the session asks.

mod admission;
pub mod again;
mod asking;
mod copies;
pub mod costs;
mod figures;
pub mod followed;
mod inputs;
pub mod machines;
pub mod metrics;
pub mod mirror;
mod moved;
mod news;
pub mod overview;
mod presence;
mod room;
mod rows;
mod runner;
mod show;
mod submit_error;
pub mod tasks;
pub mod view;
pub mod watchdog;
pub mod watched;
pub mod wish;
pub mod worker;
mod written;

pub use admission::AcceptError;

use std::path::{Component, Path};

/// The prefix of the page's ids for sessions of a fleet; the id of the task follows.
pub const FLEET: &str = "fleet.";

/// Returns `true` if a name of a stored file leads nowhere but into the folder that it is put into.
pub fn stays_inside(name: &str) -> bool {
    !name.is_empty() && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}
