//! Actions and their results as data.
//!
//! - [`ActionKind`] is what an action does, with its [`PostCondition`]; [`Aim`] is what it is aimed at.
//! - [`Evidence`] is what shows whether it worked: a [`ActionProof`], a [`Shortfall`], an [`Uncertainty`] or a [`ActionRefusal`]. The
//!   verdict follows from it.
//! - [`ActionOutcome`] holds these with the route, all changes and the wait; a call returns a [`CallReport`] of one or several.
//! - [`words`] makes the sentences. Nothing is decided on a sentence: [`CallReport::facts`] is what an expectation is matched
//!   with.

mod act;
mod aim;
mod aspect;
mod cancelled;
mod evidence;
mod facts;
mod refusal;
mod report;
mod uncertainty;
mod verdict;
pub mod words;

pub use act::{ActionKind, Button, Condition, PostCondition, TEXT_MAX};
pub use aim::{Aim, ElementRef, WindowRef};
pub use aspect::{ElementChangeKind, UiChange, WaitedFor};
pub use cancelled::{Cancellation, Extent, ExtentUnit, InputCounts};
pub use evidence::{
    ActionProof, Blindness, CellMismatch, ElementDelta, Evidence, Rank, SelectionMethod, Shortfall,
    TextContextDiff, Uncertainty,
};
pub use refusal::{
    ActionRefusal, Among, ArgumentProblem, LastLook, TargetObstruction, UnsupportedCapability,
};
pub use report::{ActionOutcome, CallReport};
pub use verdict::{ActionRoute, Verdict};
