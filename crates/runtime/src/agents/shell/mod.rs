//! The command-line agent: runs programs and sees no screen.
//!
//! Programs are started with argument lists, never through a shell, in an environment without secrets, with stdin
//! closed, and sandboxed to a folder ([`sandbox`]). Long output is truncated in the middle.

mod environment;
mod kind;
mod output;
mod run_command;
pub mod sandbox;

pub use kind::{SandboxMode, ShellKind, ShellSettings};
