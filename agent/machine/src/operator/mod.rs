//! Operators: models that look at a picture of the window and say where to click in it.
//!
//! An operator is an AppAgent whose model answers with gestures ([`OperatorGesture`]) instead of tools and ids. [`refine`] makes the usual
//! commands of them: a click at a place becomes one on the element there, so that policy, verdict and journal know its name. From
//! there on nothing differs from any other AppAgent. What the protocols of providers look like is not known here: the `model`
//! crate writes each reply in the form that `parse_operator_reply` reads.

mod gesture;
mod keys;
mod refine;

pub use gesture::{OperatorGesture, OperatorReply};
pub(crate) use keys::chords;
pub use refine::refine;
