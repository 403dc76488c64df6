//! A live mirror of the elements of applications.
//!
//! - `store`: what was read of each object, and which of its `parts` may have changed since.
//! - `marks`: which parts of which objects an announcement makes doubtful.
//! - `look`: the showing elements of a window from the mirror, after `read` has fetched what is stale; `in_view` adds the
//!   visible part of virtual containers, `assemble` makes a tree of it.
//! - `seed`: all objects of an application in one reply, where a toolkit gives that safely.
//! - `identity`: finds elements again after an application has rebuilt them.
//! - `naive`: the walk that everybody writes first, to measure against.
//! - `verify`: holds a look against a walk that reads everything afresh.

mod assemble;
mod identity;
mod in_view;
mod look;
mod marks;
mod naive;
mod parts;
mod read;
mod seed;
mod store;
mod verify;

pub(crate) use look::Source;
pub(crate) use marks::apply;
pub(crate) use parts::Parts;
pub(crate) use store::Mirror;
pub use verify::Difference;
pub(crate) use verify::lasting;
