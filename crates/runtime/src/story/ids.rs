//! The ids that a session gave out.

use deskhand_core::{command::CallResult, observation::Observation};
use serde_json::Value;

/// The highest numbers of ids that a session gave to windows and elements. No id of it may ever mean anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IdsSeen {
    /// Of a window.
    pub window: u32,
    /// Of an element.
    pub element: u32,
}

impl IdsSeen {
    /// Notes the ids in what was seen.
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

    /// Notes the ids in what a command returned.
    pub(super) fn returned(&mut self, result: &CallResult) {
        if let Some(window) = &result.window {
            self.window(window.id.0);
        }
        self.output(&result.output);
    }

    fn window(&mut self, number: u32) {
        self.window = self.window.max(number);
    }

    /// Notes the ids of elements in what a tool gave back.
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
