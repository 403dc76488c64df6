//! Follows a plan step by step.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use deskhand_ui::{WindowInfo, ids::AgentId};

/// A plan in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PlanProgress {
    /// The application or document to work in.
    object: Option<String>,
    /// The steps not yet assigned.
    steps: VecDeque<String>,
    /// The total number of steps.
    count: usize,
    /// Set once selecting or opening the object without a model was tried.
    tried: bool,
    /// Who works on the steps.
    place: Option<PlanWorker>,
}

/// Who works on the steps of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PlanWorker {
    Window(WindowInfo),
    Agent(AgentId),
}

impl PlanProgress {
    /// A new plan.
    pub(super) fn new(object: Option<String>, steps: Vec<String>) -> Self {
        let steps: VecDeque<String> = steps.into_iter().filter(|step| !step.trim().is_empty()).collect();
        let object = object.filter(|object| !object.trim().is_empty());
        Self { object, count: steps.len(), steps, tried: false, place: None }
    }

    /// Returns `true` if it has no steps.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns `true` if no step was assigned yet.
    pub(super) const fn is_waiting(&self) -> bool {
        self.place.is_none()
    }

    /// Its object can be selected or opened without a model once more.
    pub(super) const fn anew(&mut self) {
        self.tried = false;
    }

    /// The notice to the HostAgent that has to select or open the object.
    pub(super) fn notice(&self) -> String {
        if !self.is_waiting() {
            return String::new();
        }
        let object = self.object.as_ref().map(|object| format!(", “{object}”")).unwrap_or_default();
        let first = self.steps.front().map(String::as_str).unwrap_or_default();
        format!(
            "The request comes with a plan of {} steps. Only select or open the object of the plan{object}, with ASSIGN: its \
             steps are then assigned one by one without you. The first one: “{first}”",
            self.count
        )
    }

    /// The number of the last step that was assigned, and the total number of steps.
    pub(super) fn progress(&self) -> (usize, usize) {
        (self.count.saturating_sub(self.steps.len()), self.count)
    }

    /// The object and the first step, once, if the object was not selected yet.
    pub(super) fn try_object(&mut self) -> Option<(String, String)> {
        if self.tried || !self.is_waiting() {
            return None;
        }
        self.tried = true;
        Some((self.object.clone()?, self.steps.front().cloned().unwrap_or_default()))
    }

    /// Sets who works on the steps.
    pub(super) fn place(&mut self, place: Option<PlanWorker>) {
        self.place = place;
    }

    /// Takes out the next step, with who works on it and the message to it.
    pub(super) fn next_step(&mut self) -> Option<(PlanWorker, String, Vec<String>)> {
        let (place, step) = (self.place.clone(), self.steps.pop_front());
        Some((place?, step?, self.message()))
    }

    /// The message to who works on the step that was assigned last.
    fn message(&self) -> Vec<String> {
        let number = self.count.saturating_sub(self.steps.len());
        vec![format!("This is step {number} of {} of a plan. Do only this step.", self.count)]
    }
}
