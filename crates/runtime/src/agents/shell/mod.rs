//! The agent of the command line: it runs programs and sees no screen.
//!
//! Programs are started with argument lists, never through a shell, in an environment without secrets, with their
//! input closed, and confined to a folder ([`sandbox`]). What they wrote is kept at both ends.

mod environment;
mod kind;
mod output;
mod run_command;
pub mod sandbox;

pub use kind::{SandboxMode, ShellKind, ShellSettings};
