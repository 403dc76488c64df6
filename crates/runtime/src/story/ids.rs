//! The ids that a session has used.

use deskhand_core::{command::CallResult, observation::Observation};
use serde_json::Value;

/// The highest window and element ids of a session. Its ids must never be reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IdsSeen {
    /// The highest window id.
    pub window: u32,
    /// The highest element id.
    pub element: u32,
}

impl IdsSeen {
    /// Records the ids in an observation.
    pub(super) fn observed(&mut self, observation: &Observation) {
        match observation {
            Observation::Desktop(view) => {
                view.windows.iter().for_each(|window| self.window(window.id.0));
            }
            Observation::Window(view) => {
                view.surfaces.iter().for_each(|surface| self.window(surface.window.id.0));
                view.elements().for_each(|element| self.element = self.element.max(element.id.0));
            }
            Observation::Agent(_) => {}
        }
    }

    /// Records the ids in a call result.
    pub(super) fn returned(&mut self, result: &CallResult) {
        if let Some(window) = &result.window {
            self.window(window.id.0);
        }
        self.output(&result.output);
    }

    fn window(&mut self, number: u32) {
        self.window = self.window.max(number);
    }

    /// Records the element ids in a tool's output.
    fn output(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(text)) = fields.get("id")
                    && let Ok(deskhand_core::ids::ElementId(number)) = text.parse()
                {
                    self.element = self.element.max(number);
                }
                fields.values().for_each(|field| self.output(field));
            }
            Value::Array(items) => items.iter().for_each(|item| self.output(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}
