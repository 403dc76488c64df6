//! Current state of a session that is still being read: the work in progress after the last line.

use deskhand_machine::{command::ToolCommand, session::RoundLimits};
use deskhand_ui::PictureRef;

use super::{CommandTarget, SessionActivity, StepStory, Story, target_of};

impl Story {
    /// The step in progress; `None` between steps.
    pub const fn step(&self) -> Option<&StepStory> {
        self.step.as_ref()
    }

    /// The activity in progress; `None` between activities.
    pub fn doing(&self) -> Option<&SessionActivity> {
        self.open.as_ref().map(|open| &open.doing)
    }

    /// The control or window that a command is aimed at, as it was last observed in the step in progress.
    pub fn target(&self, command: &ToolCommand) -> Option<CommandTarget> {
        target_of(command, self.observation())
    }

    /// The last picture that an agent has seen.
    pub const fn picture(&self) -> Option<&PictureRef> {
        self.picture.as_ref()
    }

    /// The limits of a round; `None` before the first line.
    pub fn limits(&self) -> Option<&RoundLimits> {
        self.limits.as_deref()
    }

    /// Returns `true` if the session ended.
    pub const fn is_complete(&self) -> bool {
        self.complete
    }
}
