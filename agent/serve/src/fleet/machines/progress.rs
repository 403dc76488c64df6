//! Reports of how a sub-task goes on.

use deskhand_runtime::agents::DelegateProgress;

/// The last reported state of a sub-task; each state is reported once.
pub(super) struct SubtaskProgress {
    progress: DelegateProgress,
    last: String,
}

impl SubtaskProgress {
    pub(super) fn new(progress: DelegateProgress) -> Self {
        Self { progress, last: String::new() }
    }

    /// Returns the state reported last.
    pub(super) fn last(&self) -> &str {
        &self.last
    }

    pub(super) fn say(&mut self, state: &str) {
        if self.last != state {
            state.clone_into(&mut self.last);
            self.progress.say(state);
        }
    }
}
