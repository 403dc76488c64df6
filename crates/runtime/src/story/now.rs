//! Current state of a session that is still being read: the work in progress after the last line.

use deskhand_core::{command::Command, session::Limits, ui::PictureRef};

use super::{Doing, StepStory, Story, Target, target_of};

impl Story {
    /// The step in progress; `None` between steps.
    pub const fn step(&self) -> Option<&StepStory> {
        self.step.as_ref()
    }

    /// The activity in progress; `None` between activities.
    pub fn doing(&self) -> Option<&Doing> {
        self.open.as_ref().map(|open| &open.doing)
    }

    /// The control or window that a command is aimed at, as it was last observed in the step in progress.
    pub fn target(&self, command: &Command) -> Option<Target> {
        target_of(command, self.observation())
    }

    /// The last picture that an agent has seen.
    pub const fn picture(&self) -> Option<&PictureRef> {
        self.picture.as_ref()
    }

    /// The limits of a round; `None` before the first line.
    pub fn limits(&self) -> Option<&Limits> {
        self.limits.as_deref()
    }

    /// Returns `true` if the session ended.
    pub const fn is_complete(&self) -> bool {
        self.complete
    }
}
