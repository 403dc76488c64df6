//! The tool names and parameters of the reference implementation, so that its prompts and habits carry over.
//!
//! An AppAgent's model may always use them; none is listed to it. Each is turned into actions of our own tools as soon as
//! a reply is read. So the gate judges, the journal holds and the desktop sees what is truly done, and nothing
//! about a reference name can be decided in two ways. `docs/reference/tools.md` has the table.

mod arguments;
mod keys;
mod names;

pub use names::{ANNOTATION, REFERENCE_NAMES, to_own_tools, why_not};

#[cfg(test)]
mod keys_tests;
#[cfg(test)]
mod names_tests;
