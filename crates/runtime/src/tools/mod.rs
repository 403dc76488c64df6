//! What agents can call: one file a tool, its doc comment the description that models read.

mod registry;

pub use registry::{ToolContext, Toolbox};
