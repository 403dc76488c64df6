//! Two sessions side by side: what both did, what only one did, and where the same thing came out differently.
//!
//! A session is taken as a sequence of moves: its calls, and the decisions of steps without calls. Moves are aligned by what was done
//! to what, not by their values or results, so that two runs of one task, or a fork and its origin, line up.

mod align;
mod moves;
mod pairs;

pub use moves::{MOVES_MAX, Move};
pub use pairs::{ComparedSession, MoveAspect, Pair, SessionComparison, compare};
