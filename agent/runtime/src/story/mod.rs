//! The only reader of the journal: folds its lines into chapters, one at a time, live or later.
//!
//! [`Story::read`] takes a line and returns [`StoryUpdate`]s: events to show at once, and completed chapters. The same fold
//! yields counts, times and costs ([`RunSummary`]) and the ids in use ([`IdsSeen`](deskhand_ui::ids::IdsSeen)). It holds one step, however long the
//! journal is. Everything is typed; text is rendered by its users.

mod chapter;
mod decision;
mod effects;
mod fold;
mod ids;
mod ledger;
mod now;
mod prices;
mod source;
mod target;
mod verdicts;

pub use chapter::{
    ActStory, AskResult, AskStory, Chapter, JournalEnd, Moment, RoundStart, SessionActivity, SessionNote,
    StepStory, StoryUpdate, SubtaskEnd, Talk, UserInquiry, UserReply,
};
pub use decision::{DecisionSummary, Meaning};
pub(crate) use effects::{delegation as delegation_of, result_of};
pub use fold::Story;
pub use ledger::{ModelUse, PhaseTimes, RoundSummary, RunSummary};
pub(crate) use source::tell;
pub use target::CommandTarget;
pub(crate) use target::target_of;
pub use verdicts::Verdicts;
