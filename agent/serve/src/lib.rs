//! Faces of the host for other programs.
//!
//! - [`mcp`]: a Model Context Protocol server, through which any agent uses Deskhand.
//! - [`page`]: a page to watch, steer and look back, and its API.
//! - [`fleet`]: tasks of a fleet as sessions of this machine.
//! - `desk`: a desktop that somebody else steers, as a session like any other.

mod desk;
pub mod fleet;
pub mod mcp;
pub mod page;
mod token;
