//! A plan that is followed step by step.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{ids::AgentId, ui::WindowInfo};

/// A plan that is followed step by step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Following {
    /// The application or document to work in.
    pub(super) object: Option<String>,
    /// The steps that were not handed out yet.
    pub(super) steps: VecDeque<String>,
    /// How many steps there are.
    pub(super) count: usize,
    /// Whether it was tried to pick or open the object without a model.
    pub(super) tried: bool,
    /// Who takes the steps.
    pub(super) place: Option<Place>,
}

/// Who works on the steps of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Place {
    Window(WindowInfo),
    Agent(AgentId),
}

impl Following {
    /// A plan from its beginning.
    pub(super) fn new(object: Option<String>, steps: Vec<String>) -> Self {
        let steps: VecDeque<String> = steps.into_iter().filter(|step| !step.trim().is_empty()).collect();
        let object = object.filter(|object| !object.trim().is_empty());
        Self { object, count: steps.len(), steps, tried: false, place: None }
    }

    /// Whether there is nothing in it to do.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether no step of it was handed out yet.
    pub(super) const fn is_waiting(&self) -> bool {
        self.place.is_none()
    }

    /// What the HostAgent must know that is asked to pick or open the object.
    pub(super) fn notice(&self) -> String {
        if !self.is_waiting() {
            return String::new();
        }
        let object = self.object.as_ref().map(|object| format!(", “{object}”")).unwrap_or_default();
        let first = self.steps.front().map(String::as_str).unwrap_or_default();
        format!(
            "The request comes with a plan of {} steps. Only pick or open what it works in{object}, with ASSIGN: the steps \
             are then handed out there one by one, and not by you. The first one: “{first}”",
            self.count
        )
    }

    pub(super) fn message(&self) -> Vec<String> {
        let number = self.count.saturating_sub(self.steps.len());
        vec![format!("This is step {number} of {} of a plan. Take this step and no other.", self.count)]
    }
}
