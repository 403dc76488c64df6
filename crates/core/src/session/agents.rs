//! Agents that own no window: sub-tasks that are handed to them, and what comes back.

use serde::{Deserialize, Serialize};

use super::{
    effect::{Effect, StepRef},
    event::Event,
    machine::{Session, Stage},
    round::{SubtaskRecord, SubtaskStatus},
};
use crate::{
    agent::{AgentDefinition, AgentReport},
    ids::AgentId,
    states::{HostTrigger, next_host},
};

/// A sub-task that is with an agent outside of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Delegation {
    agent: AgentId,
    /// The agent's name.
    name: String,
    subtask: String,
}

impl Session {
    /// The agent that a target of the HostAgent names; none where it names a window or nothing.
    pub(super) fn agent_target(&self, id: &str) -> Option<AgentDefinition> {
        self.targets.agent(id.trim().parse().ok()?).cloned()
    }

    /// Hands a sub-task to an agent, and waits for its report.
    pub(super) fn delegate(&mut self, agent: AgentDefinition, subtask: String, message: Vec<String>) {
        let Some(number) = self.next_step() else { return };
        let step = StepRef { number, agent: agent.name.clone(), subtask: subtask.clone() };
        let delegation = Delegation { agent: agent.id, name: agent.name, subtask: subtask.clone() };
        self.want(
            Stage::Delegated(delegation),
            Some(step),
            Effect::Delegate { agent: agent.id, subtask, message },
        );
    }

    pub(super) fn delegation_event(&mut self, delegation: Delegation, event: Event) {
        let Event::Delegated { report } = event else {
            self.break_off(format!("{} was answered with something that is no report", delegation.name));
            return;
        };
        self.delegation_returned(delegation, report);
    }

    fn delegation_returned(&mut self, delegation: Delegation, report: AgentReport) {
        let AgentReport { status, result } = report;
        let reason = result.clone();
        self.archive(SubtaskRecord { subtask: delegation.subtask, agent: delegation.name, status, result });
        match status {
            SubtaskStatus::Finished => {
                self.round.failures_in_row = 0;
                self.back_to_host();
            }
            SubtaskStatus::Failed | SubtaskStatus::Rejected => self.subtask_failed(&reason),
            SubtaskStatus::Error => {
                self.host.status = next_host(self.host.status, HostTrigger::Broke);
                self.break_off(reason);
            }
        }
    }
}
