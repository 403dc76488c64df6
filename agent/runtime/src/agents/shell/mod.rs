//! The command-line agent: runs programs and sees no screen.
//!
//! Programs are started with argument lists, never through a shell, in an environment without secrets, with stdin
//! closed, and sandboxed to a folder ([`programs`](crate::programs)). Long output is truncated in the middle.

mod kind;
mod run_command;

pub use kind::{ShellKind, ShellSettings};
