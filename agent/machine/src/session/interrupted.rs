//! Workflows that agents run within a round, and the sub-tasks that they interrupt.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{
    agent::AgentRef,
    reply::NextSubtask,
    workflow::{WorkflowEnd, WorkflowRun},
};
use deskhand_ui::ids::WindowId;

/// The workflows that agents run within a round.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct NestedWorkflows {
    /// The one whose call has just returned.
    begun: Option<Box<WorkflowRun>>,
    /// The agent that runs the one in progress.
    by: Option<AgentRef>,
    /// The texts of the one in progress that count as the user's.
    words: Vec<String>,
    /// The sub-task that is gone on with afterwards.
    interrupted: Option<InterruptedSubtask>,
    /// Ends of the earlier workflows.
    ended: Vec<WorkflowEnd>,
}

/// A sub-task whose AppAgent ran a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct InterruptedSubtask {
    pub(super) window: WindowId,
    pub(super) agent: AgentRef,
    pub(super) subtask: String,
    pub(super) message: Vec<String>,
    /// The first step of the sub-task.
    pub(super) first_step: u32,
    /// Sub-tasks planned after it.
    pub(super) next: Option<VecDeque<NextSubtask>>,
    /// Set once its window was selected again.
    tried: bool,
    /// Notice to its agent when it continues.
    notice: String,
}

impl NestedWorkflows {
    /// The most ends that are kept.
    const ENDED_MAX: usize = 20;

    /// Returns `true` if a workflow that an agent ran is in progress.
    pub(super) const fn is_running(&self) -> bool {
        self.by.is_some()
    }

    /// The texts of the workflow in progress that count as the user's.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }

    /// Allows decisions that were made without a model and not carried out to be made once more.
    pub(super) fn anew(&mut self) {
        if let Some(interrupted) = &mut self.interrupted {
            interrupted.tried = false;
        }
    }

    /// Keeps the workflow whose call has just returned.
    pub(super) fn called(&mut self, run: WorkflowRun) {
        self.begun = Some(Box::new(run));
    }

    /// The workflow whose call has just returned.
    pub(super) fn take_called(&mut self) -> Option<WorkflowRun> {
        self.begun.take().map(|run| *run)
    }

    /// Begins a workflow of an agent, with the texts that count as the user's.
    pub(super) fn begin(&mut self, by: AgentRef, words: Option<Vec<String>>) {
        self.by = Some(by);
        if let Some(words) = words {
            self.words = words;
        }
    }

    /// Ends the workflow in progress; returns the agent that ran it.
    pub(super) fn stop(&mut self) -> AgentRef {
        self.words.clear();
        self.by.take().unwrap_or(AgentRef::HostAgent)
    }

    /// Keeps how a workflow ended.
    pub(super) fn end(&mut self, end: WorkflowEnd) {
        if self.ended.len() < Self::ENDED_MAX {
            self.ended.push(end);
        }
    }

    /// Takes out how the workflows ended.
    pub(super) fn take_ended(&mut self) -> Vec<WorkflowEnd> {
        std::mem::take(&mut self.ended)
    }

    /// Interrupts a sub-task.
    pub(super) fn interrupt(&mut self, interrupted: InterruptedSubtask) {
        self.interrupted = Some(interrupted);
    }

    /// The sub-task that is gone on with afterwards.
    pub(super) const fn interrupted(&self) -> Option<&InterruptedSubtask> {
        self.interrupted.as_ref()
    }

    /// Notes for the interrupted sub-task how the workflow ended; gives the notice back if there is none.
    pub(super) fn notify(&mut self, notice: String) -> Option<String> {
        match &mut self.interrupted {
            Some(interrupted) => {
                interrupted.notice = notice;
                None
            }
            None => Some(notice),
        }
    }

    /// Tries to go back to the interrupted sub-task; `false` if that was tried before.
    pub(super) fn try_return(&mut self) -> bool {
        self.interrupted.as_mut().is_some_and(|one| !std::mem::replace(&mut one.tried, true))
    }

    /// Gives the interrupted sub-task up; returns it with the notice.
    pub(super) fn give_up(&mut self) -> Option<(InterruptedSubtask, String)> {
        let mut interrupted = self.interrupted.take()?;
        let notice = std::mem::take(&mut interrupted.notice);
        Some((interrupted, notice))
    }

    /// Takes out the interrupted sub-task of a window, unless a workflow is in progress: that may work in the same window.
    pub(super) fn resumed_in(&mut self, window: WindowId) -> Option<ResumedSubtask> {
        let is_over = !self.is_running();
        let interrupted = self.interrupted.take_if(|one| is_over && one.window == window)?;
        Some(ResumedSubtask { notice: interrupted.notice, first_step: interrupted.first_step })
    }
}

/// State of the sub-task that an AppAgent goes on with after a workflow.
pub(super) struct ResumedSubtask {
    /// Its notice.
    pub(super) notice: String,
    /// The first step of its sub-task.
    pub(super) first_step: u32,
}

impl InterruptedSubtask {
    /// The sub-task of an agent, with those planned after it.
    pub(super) fn new(
        (window, agent): (WindowId, AgentRef),
        (subtask, message): (String, Vec<String>),
        first_step: u32,
        next: Option<VecDeque<NextSubtask>>,
    ) -> Self {
        Self { window, agent, subtask, message, first_step, next, tried: false, notice: String::new() }
    }
}
