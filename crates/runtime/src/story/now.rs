//! Where a session is that is still read: what is in progress after the last line.

use super::{Doing, StepStory, Story};

impl Story {
    /// The step in progress; `None` between steps.
    pub const fn step(&self) -> Option<&StepStory> {
        self.step.as_ref()
    }

    /// The activity in progress; `None` between activities.
    pub fn doing(&self) -> Option<&Doing> {
        self.open.as_ref().map(|open| &open.doing)
    }

    /// Whether the session ended.
    pub const fn is_complete(&self) -> bool {
        self.complete
    }
}
