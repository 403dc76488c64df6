//! A scripted model: replies from a file, for runs without a model, tests and demos.

mod file;
mod mismatch;
mod model;
mod placeholder;
mod prompt;

pub use file::ScriptError;
pub use model::Script;
