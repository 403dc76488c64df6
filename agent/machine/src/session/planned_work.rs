//! Work that is decided ahead: sub-tasks, a plan, workflows.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{
    hiding::{Values, hide},
    interrupted::NestedWorkflows,
    plan::PlanProgress,
};
use crate::{
    reply::NextSubtask,
    workflow::{Heal, WorkflowEnd, WorkflowExecution},
};

/// Work of the current round that is decided ahead.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PlannedWork {
    /// The sub-tasks that the HostAgent planned ahead; `None` if it has to be asked.
    next: Option<VecDeque<NextSubtask>>,
    /// The plan in progress.
    plan: Option<PlanProgress>,
    /// The workflow in progress.
    performing: Option<WorkflowExecution>,
    /// The workflows that agents run.
    nesting: NestedWorkflows,
}

impl PlannedWork {
    /// Sets the sub-tasks that the HostAgent planned ahead.
    pub(super) fn set_next(&mut self, next: Option<VecDeque<NextSubtask>>) {
        self.next = next;
    }

    /// Takes them out: the HostAgent has to be asked.
    pub(super) fn take_next(&mut self) -> Option<VecDeque<NextSubtask>> {
        self.next.take()
    }

    /// Begins a plan.
    pub(super) fn follow(&mut self, plan: PlanProgress) {
        self.plan = Some(plan);
    }

    /// The plan in progress.
    pub(super) const fn plan(&self) -> Option<&PlanProgress> {
        self.plan.as_ref()
    }

    /// The plan in progress, to go on with it.
    pub(super) const fn plan_mut(&mut self) -> Option<&mut PlanProgress> {
        self.plan.as_mut()
    }

    /// Begins a workflow.
    pub(super) fn perform(&mut self, execution: WorkflowExecution) {
        self.performing = Some(execution);
    }

    /// The workflow in progress.
    pub(super) const fn performing(&self) -> Option<&WorkflowExecution> {
        self.performing.as_ref()
    }

    /// The workflow in progress, to go on with it.
    pub(super) const fn performing_mut(&mut self) -> Option<&mut WorkflowExecution> {
        self.performing.as_mut()
    }

    /// Takes the workflow in progress out.
    pub(super) fn take_performing(&mut self) -> Option<WorkflowExecution> {
        self.performing.take()
    }

    /// Returns `true` if an agent's decisions are all those of a workflow that asks no model, so that nobody would look at its pictures.
    pub(super) fn acts_without_model(&self) -> bool {
        self.performing.as_ref().is_some_and(|performing| performing.run.heal == Heal::Off)
    }

    /// Returns `true` if the workflow of the round cannot go on as it is written.
    pub(super) fn is_stuck(&self) -> bool {
        self.performing.as_ref().is_some_and(|performing| performing.trouble().is_some())
    }

    /// Returns `true` if a workflow that an agent ran is in progress.
    pub(super) const fn is_nested(&self) -> bool {
        self.nesting.is_running()
    }

    /// The workflows that agents run.
    pub(super) const fn nesting(&self) -> &NestedWorkflows {
        &self.nesting
    }

    /// The workflows that agents run, to go on with them.
    pub(super) const fn nesting_mut(&mut self) -> &mut NestedWorkflows {
        &mut self.nesting
    }

    /// Returns the outcome of the workflow of the round; `None` if the round runs no workflow.
    pub(super) fn workflow_end(&self) -> Option<WorkflowEnd> {
        self.performing.as_ref().filter(|_| !self.is_nested()).map(WorkflowExecution::end)
    }

    /// Returns the ends of the workflows that agents ran in the round.
    pub(super) fn nested_ends(&mut self) -> Vec<WorkflowEnd> {
        let mut ends = self.nesting.take_ended();
        if self.nesting.is_running() {
            ends.extend(self.performing.as_ref().map(WorkflowExecution::end));
        }
        ends
    }

    /// Allows decisions that were made without a model, and did not run, to be made once more.
    pub(super) fn anew(&mut self) {
        if let Some(plan) = self.plan.as_mut().filter(|plan| plan.is_waiting()) {
            plan.anew();
        }
        self.performing.iter_mut().for_each(WorkflowExecution::anew);
        self.nesting.anew();
    }

    /// Puts dots in the place of passwords.
    pub(super) fn hide(&mut self, values: &Values) {
        hide(self, values);
    }
}
