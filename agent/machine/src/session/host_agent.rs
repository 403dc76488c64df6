//! The HostAgent's state.

use serde::{Deserialize, Serialize};

use super::agent_desk::AgentDesk;
use crate::states::{HostStatus, HostTrigger, next_host};

/// The HostAgent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct HostAgent {
    status: HostStatus,
    desk: AgentDesk,
}

impl Default for HostAgent {
    fn default() -> Self {
        Self { status: HostStatus::Continue, desk: AgentDesk::default() }
    }
}

impl HostAgent {
    /// Resets for a new round, keeping its memory.
    pub(super) fn begin_round(&mut self) {
        self.status = HostStatus::Continue;
        self.desk.begin_round();
    }

    /// Its status.
    pub(super) const fn status(&self) -> HostStatus {
        self.status
    }

    /// Moves its status.
    pub(super) const fn moves(&mut self, trigger: HostTrigger) -> HostStatus {
        self.status = next_host(self.status, trigger);
        self.status
    }

    /// Its desk.
    pub(super) const fn desk(&self) -> &AgentDesk {
        &self.desk
    }

    /// Its desk, to work at.
    pub(super) const fn desk_mut(&mut self) -> &mut AgentDesk {
        &mut self.desk
    }
}
