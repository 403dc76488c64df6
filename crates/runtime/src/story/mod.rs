//! The one reader of the journal: folds its lines into what happened, one at a time, while a session runs or later.
//!
//! [`Story::read`] takes a line and returns [`Update`]s: moments to show at once, and chapters of the session that are
//! complete. Counts, times and costs ([`RunSummary`]) and the ids in use ([`IdsSeen`]) come out of the same fold. It
//! holds one step, however long the journal is. Everything is typed; sentences are made where it is shown.

mod chapter;
mod decision;
mod fold;
mod ids;
mod ledger;
mod source;
mod target;

pub use chapter::{
    ActStory, AskStory, Asked, Begun, Came, Chapter, Doing, End, Heard, Moment, Note, StepStory, SubtaskEnd,
    Talk, Update,
};
pub use decision::{Decision, Meaning};
pub use fold::Story;
pub use ids::IdsSeen;
pub use ledger::{PhaseTimes, RoundSummary, RunSummary};
pub(crate) use source::tell;
pub use target::Target;
