//! Programs that are run for agents: confined, in an environment without secrets, with bounded output.
//!
//! - [`sandbox`]: how they are confined, and the command that starts one.
//! - `environment`: the variables that they get.
//! - `runner`: runs one to completion; `output` truncates what it prints in the middle.

pub(crate) mod environment;
mod output;
mod runner;
pub mod sandbox;

pub(crate) use runner::{ProgramRun, ProgramRunner, STDOUT_KEPT};
