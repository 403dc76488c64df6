//! The end of a sub-task, whoever worked on it.

use super::{host::Host, machine::Session, round::SubtaskRecord};
use crate::{outcome::OutcomeKind, states::HostTrigger};

impl Session {
    /// Keeps a sub-task that ended.
    pub(super) fn archive(&mut self, record: SubtaskRecord) {
        self.round.subtasks.push(record);
    }

    /// A sub-task that was archived did not succeed: the HostAgent goes on, unless too many did not.
    pub(super) fn subtask_failed(&mut self, reason: &str) {
        self.round.failures_in_row = self.round.failures_in_row.saturating_add(1);
        if self.round.failures_in_row >= self.config.limits.subtask_failures_max {
            self.host.moves(HostTrigger::SubtasksExhausted);
            let count = self.round.failures_in_row;
            self.finish(
                OutcomeKind::Failed,
                format!("{count} sub-tasks in a row failed; the last: {reason}"),
            );
        } else {
            self.back_to_host();
        }
    }

    pub(super) fn back_to_host(&mut self) {
        self.host.moves(HostTrigger::SubtaskEnded);
        self.begin_step(Host);
    }
}
