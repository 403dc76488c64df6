//! `cargo xtask demo`: the main job on real LibreOffice, from nothing to a checked chart.
//!
//! - [`command`]: sets up, builds, runs the product and tells how it went.
//! - [`checks`]: reads the result with code that is not the agent's.
//! - [`summary`]: what the product says about its run, and what is printed of it.

mod checks;
mod command;
mod summary;

pub(crate) use command::{DemoArguments, run};
