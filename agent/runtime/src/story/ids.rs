//! The ids that a session has used.

use deskhand_machine::{command::CallResult, observation::Observation};
use deskhand_ui::ids::IdsSeen;
use serde_json::Value;

/// Records the ids in an observation.
pub(super) fn observed(ids: &mut IdsSeen, observation: &Observation) {
    match observation {
        Observation::Desktop(view) => view.windows.iter().for_each(|window| ids.saw_window(window.id)),
        Observation::Window(view) => {
            view.surfaces.iter().for_each(|surface| ids.saw_window(surface.window.id));
            view.elements().for_each(|element| ids.saw_element(element.id));
        }
        Observation::Agent(_) => {}
    }
}

/// Records the ids in a call result.
pub(super) fn returned(ids: &mut IdsSeen, result: &CallResult) {
    if let Some(window) = &result.window {
        ids.saw_window(window.id);
    }
    in_output(ids, &result.output);
}

/// Records the element ids in a tool's output.
fn in_output(ids: &mut IdsSeen, value: &Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get("id")
                && let Ok(id) = text.parse()
            {
                ids.saw_element(id);
            }
            fields.values().for_each(|field| in_output(ids, field));
        }
        Value::Array(items) => items.iter().for_each(|item| in_output(ids, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
