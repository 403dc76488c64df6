//! The agents of a session.

use serde::{Deserialize, Serialize};

use super::{
    app_agent::AppAgent,
    hiding::{Values, hide},
    host_agent::HostAgent,
    owner::SubtaskOwner,
};
use crate::{
    agent::SubtaskWorker,
    states::{AppStatus, AppTrigger, HostTrigger},
};
use deskhand_ui::ids::{AgentId, WindowId};

/// The most cached agents; the least recently used is evicted.
const APPS_MAX: usize = 32;

/// The HostAgent and the agents that work on sub-tasks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct AgentRoster {
    host: HostAgent,
    apps: Vec<AppAgent>,
}

impl AgentRoster {
    /// The HostAgent.
    pub(super) const fn host(&self) -> &HostAgent {
        &self.host
    }

    /// The HostAgent, to work with.
    pub(super) const fn host_mut(&mut self) -> &mut HostAgent {
        &mut self.host
    }

    /// The agents that work on sub-tasks.
    pub(super) fn apps(&self) -> &[AppAgent] {
        &self.apps
    }

    /// The agent of a worker.
    pub(super) fn app(&self, worker: SubtaskWorker) -> Option<&AppAgent> {
        self.apps.iter().find(|app| app.worker() == worker)
    }

    /// The agent of a worker, to work with.
    pub(super) fn app_mut(&mut self, worker: SubtaskWorker) -> Option<&mut AppAgent> {
        self.apps.iter_mut().find(|app| app.worker() == worker)
    }

    /// Moves the status of a worker's agent.
    pub(super) fn app_moves(&mut self, worker: SubtaskWorker, trigger: AppTrigger) -> AppStatus {
        self.app_mut(worker).map_or(AppStatus::Error, |app| app.moves(trigger))
    }

    /// Assigns a sub-task that begins with a step.
    pub(super) fn assign(&mut self, owner: SubtaskOwner, given: (String, Vec<String>), first_step: u32) {
        let worker = owner.worker();
        let known = self.apps.iter().position(|app| app.owner().is_same(&owner));
        let memory = known.map(|index| self.apps.remove(index).into_memory()).unwrap_or_default();
        // Another application's window had the same id: its agent is stale.
        self.dismiss(worker);
        if self.apps.len() >= APPS_MAX {
            self.apps.remove(0);
        }
        // The last one is the one at work.
        self.apps.push(AppAgent::new(owner, memory, given, first_step));
    }

    /// Drops the agent of a worker.
    pub(super) fn dismiss(&mut self, worker: SubtaskWorker) {
        self.apps.retain(|app| app.worker() != worker);
    }

    /// Keeps the agents of windows that are open, and all without a window.
    pub(super) fn keep_windows(&mut self, is_open: impl Fn(WindowId) -> bool) {
        self.apps.retain(|app| app.window().is_none_or(|window| is_open(window.id)));
    }

    /// Keeps the agents that are known, and all of windows.
    pub(super) fn keep_agents(&mut self, is_known: impl Fn(AgentId, &str) -> bool) {
        self.apps.retain(|app| match app.owner() {
            SubtaskOwner::Window(_) => true,
            SubtaskOwner::Agent(id, name) => is_known(*id, name),
        });
    }

    /// Moves all agents as the round is stopped.
    pub(super) fn stop(&mut self) {
        self.host.moves(HostTrigger::Stopped);
        for app in &mut self.apps {
            app.moves(AppTrigger::Stopped);
        }
    }

    /// The next steps are no repetitions.
    pub(super) fn forget_repetitions(&mut self) {
        self.host.desk_mut().forget_repetitions();
        for app in &mut self.apps {
            app.desk_mut().forget_repetitions();
        }
    }

    /// Forgets what agents were shown of their windows.
    pub(super) fn forget_views(&mut self) {
        self.apps.iter_mut().for_each(AppAgent::forget_view);
    }

    /// Puts dots in the place of passwords.
    pub(super) fn hide(&mut self, values: &Values) {
        hide(&mut self.host, values);
        hide(&mut self.apps, values);
    }
}
