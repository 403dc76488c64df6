//! Actions and their results as data.
//!
//! - [`Act`] is what an action does, with its [`PostCondition`]; [`Aim`] is what it is aimed at.
//! - [`Evidence`] is what shows whether it worked: a [`Proof`], a [`Shortfall`], an [`Uncertainty`] or a [`Refusal`]. The
//!   verdict follows from it.
//! - [`Action`] holds these with the route, all changes and the wait; a call returns a [`Report`] of one or several.
//! - [`words`] makes the sentences. Nothing is decided on a sentence: [`Report::facts`] is what an expectation is matched
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
pub mod words;

pub use act::{Act, Button, Condition, PostCondition, TEXT_MAX};
pub use aim::{Aim, ElementRef, WindowRef};
pub use aspect::{Aspect, Change, WaitedFor};
pub use cancelled::{Cancellation, Extent, ExtentUnit, InputCounts};
pub use evidence::{
    Blindness, Evidence, Mismatch, Now, Proof, Rank, Shortfall, Surroundings, Uncertainty, Way,
};
pub use refusal::{Among, ArgumentProblem, Cover, LastLook, Refusal, Unsupported};
pub use report::{Action, Report};
