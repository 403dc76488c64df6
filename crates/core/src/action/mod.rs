//! Actions and their results as data.
//!
//! What an action did, what it was aimed at and what came of it are types; sentences are made from them where they are
//! shown, and nothing is decided on a sentence.

mod aspect;

pub use aspect::{Aspect, Change};
