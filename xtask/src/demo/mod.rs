//! `cargo xtask demo`: runs the main job on real LibreOffice, from scratch to a verified chart.
//!
//! - [`command`]: builds and runs the product, and reports the result.
//! - [`checks`]: verifies the result independently of the agent.
//! - [`summary`]: parses and prints the summary of the run.

mod checks;
mod command;
mod summary;

pub use command::{DemoArguments, run};
