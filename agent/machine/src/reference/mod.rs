//! Tool names and parameters of the reference implementation, so that its prompts and habits carry over.
//!
//! An AppAgent's model may always use them, but no prompt lists them. Each is converted into actions of our own tools
//! when the reply is parsed, so the gate, the journal and the desktop only see actions that are really
//! executed. `docs/reference/tools.md` has the table.

mod arguments;
mod keys;
mod names;

pub use names::{ANNOTATION, REFERENCE_NAMES, refusal, to_own_tools};

#[cfg(test)]
mod keys_tests;
#[cfg(test)]
mod names_tests;
