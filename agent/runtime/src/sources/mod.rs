//! Tools that are none of ours: those of MCP servers, and programs that the user made tools.
//!
//! A source is opened with a session and closed with it. What its tools do is not seen here, so that a call that acts never counts as
//! proven, and the policy asks before it unless a rule allows it. Descriptions, schemas and results of a source are untrusted: bounded,
//! and marked with where they come from. A program that embeds Deskhand adds sources of its own with [`ToolSource`].
//!
//! - [`source`]: the traits of a source and of what it opens.
//! - `open`: the open sources of a session: names without collisions, who has which tools, calls.
//! - `finding`: the tool that looks for tools, where there are many.
//! - `schema`: what is taken of a schema, and the check of arguments.
//! - [`server`]: MCP servers; [`program`]: programs with typed arguments.

mod finding;
mod open;
pub mod program;
mod schema;
pub mod server;
pub mod source;

pub use open::{EnabledSources, OpenSources};
pub use program::{ArgumentKind, ProgramArgument, ProgramInput, ProgramTool};
pub use server::{ServerRules, ServerSource};
pub use source::{OpenSource, OwnTool, SourceCall, ToolAudience, ToolSource};
