//! A live mirror of the elements of applications.
//!
//! - `store`: what was read of each object, and which of its `parts` may be stale.
//! - `marks`: which parts of which objects an announcement makes stale.
//! - `look`: the showing elements of a window. It carries a `walk` along: `read` fetches what is stale, `in_view` adds the
//!   visible part of virtual containers, `assemble` builds the tree.
//! - `seed`: all objects of an application in one reply, where the toolkit supports that safely.
//! - `identity`: recognises elements by their `trace` after an application has rebuilt them.
//! - `naive`: a plain recursive walk, as a baseline for benchmarks.
//! - `verify`: compares a look with a walk that reads everything afresh.

mod assemble;
mod beyond;
mod identity;
mod in_view;
mod look;
mod marks;
mod naive;
mod parts;
mod read;
mod rows;
mod seed;
mod store;
mod trace;
mod verify;
mod walk;

pub(crate) use look::WalkSource;
pub(crate) use marks::apply;
pub(crate) use parts::ObjectAspects;
pub(crate) use store::AtspiMirror;
pub use verify::MirrorDiff;
pub(crate) use verify::lasting;
