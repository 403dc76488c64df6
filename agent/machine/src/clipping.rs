//! Limits of texts that come from outside: from applications, tools and agents.
//!
//! What is read from outside is clipped where it enters, so that nothing that an application shows makes a prompt, a record or a
//! report arbitrarily long. A cut is marked with `…`. Clipping twice changes nothing.

use deskhand_ui::clipping::{MESSAGE_CHARS_MAX, name, within};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    agent::AgentReport,
    command::CallResult,
    observation::{Observation, ObserveFailure},
};
use deskhand_ui::{Element, WindowInfo};

/// The most text that the output of a call contains, in characters: a long document, or a table.
const OUTPUT_CHARS_MAX: usize = 400_000;
/// The most values that the output of a call contains.
const OUTPUT_VALUES_MAX: usize = 200_000;

fn clip_name(text: &mut String) {
    *text = name(std::mem::take(text));
}

fn clip_message(text: &mut String) {
    *text = within(std::mem::take(text), MESSAGE_CHARS_MAX);
}

fn clip_window(window: &mut WindowInfo) {
    clip_name(&mut window.title);
    clip_name(&mut window.app.name);
    clip_name(&mut window.app.root);
    if let Some(document) = &mut window.document {
        clip_name(&mut document.name);
        // A part of a path names another file.
        document.path.take_if(|path| path.len() > MESSAGE_CHARS_MAX);
    }
}

fn clip_element(element: &mut Element) {
    clip_name(&mut element.name);
    clip_name(&mut element.description);
    if let Some(text) = &mut element.text {
        *text = within(std::mem::take(text), Element::TEXT_MAX);
    }
}

impl Observation {
    /// The observation with every text within its limit.
    #[must_use]
    pub fn clipped(mut self) -> Self {
        match &mut self {
            Self::Desktop(view) => view.windows.iter_mut().chain(&mut view.dialogs).for_each(clip_window),
            Self::Window(view) => {
                for surface in &mut view.surfaces {
                    clip_window(&mut surface.window);
                    surface.tree.elements.iter_mut().for_each(clip_element);
                }
                view.notices.iter_mut().for_each(clip_message);
            }
            Self::Agent(view) => clip_message(&mut view.text),
        }
        self
    }
}

impl ObserveFailure {
    /// The failure with its message within the limit.
    #[must_use]
    pub fn clipped(mut self) -> Self {
        clip_message(&mut self.message);
        self
    }
}

impl AgentReport {
    /// The report with its result within the limit.
    #[must_use]
    pub fn clipped(mut self) -> Self {
        clip_message(&mut self.result);
        self
    }
}

impl CallResult {
    /// The result with every text within its limit, and an output of bounded size.
    #[must_use]
    pub fn clipped(mut self) -> Self {
        clip_texts(&mut self.report);
        let mut room = CallOutputBudget { characters: OUTPUT_CHARS_MAX, values: OUTPUT_VALUES_MAX };
        room.clip(&mut self.output);
        self.window.iter_mut().for_each(clip_window);
        self
    }
}

/// Clips every text in `data` to [`MESSAGE_CHARS_MAX`].
fn clip_texts<T: Serialize + DeserializeOwned>(data: &mut T) {
    let Ok(mut value) = serde_json::to_value(&*data) else { return };
    if clip_strings(&mut value)
        && let Ok(clipped) = serde_json::from_value(value)
    {
        *data = clipped;
    }
}

/// Clips every text in a value; returns whether there was one to clip.
fn clip_strings(value: &mut Value) -> bool {
    match value {
        Value::String(text) if text.len() > MESSAGE_CHARS_MAX => {
            clip_message(text);
            true
        }
        Value::Array(items) => items.iter_mut().map(clip_strings).filter(|clipped| *clipped).count() > 0,
        Value::Object(fields) => fields.values_mut().map(clip_strings).filter(|clipped| *clipped).count() > 0,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Space left for the output of a call.
struct CallOutputBudget {
    characters: usize,
    values: usize,
}

impl CallOutputBudget {
    fn clip(&mut self, value: &mut Value) {
        self.values = self.values.saturating_sub(1);
        match value {
            Value::String(text) => {
                *text = within(std::mem::take(text), self.characters);
                self.characters = self.characters.saturating_sub(text.chars().count());
            }
            Value::Array(items) => {
                if let Some(end) = self.end_of(items.len()) {
                    items.truncate(end);
                    items.push("…".into());
                }
                items.iter_mut().for_each(|item| self.clip(item));
            }
            Value::Object(fields) => {
                if let Some(end) = self.end_of(fields.len()) {
                    let kept: serde_json::Map<String, Value> =
                        std::mem::take(fields).into_iter().take(end).collect();
                    *fields = kept;
                    fields.insert("…".to_owned(), Value::Null);
                }
                fields.values_mut().for_each(|field| self.clip(field));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Returns how many of `count` values fit; `None` if all do.
    fn end_of(&self, count: usize) -> Option<usize> {
        (count > self.values).then_some(self.values)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use deskhand_ui::{
        AppInfo, Role, Surface, Tree, WindowKind, WindowState, WindowView,
        action::CallReport,
        geometry::Rect,
        ids::{ElementId, WindowId},
    };

    fn characters(value: &impl Serialize) -> usize {
        serde_json::to_string(value).unwrap().chars().count()
    }

    #[test]
    fn a_name_of_20_megabytes_makes_a_short_observation() {
        let long = |letter: &str| letter.repeat(20_000_000);
        let window = WindowInfo {
            id: WindowId(1),
            title: long("t"),
            app: AppInfo { name: long("n"), root: "r".to_owned(), pid: None },
            bounds: Rect::new(0, 0, 1, 1),
            kind: WindowKind::Normal,
            owner: None,
            active: false,
            accessible: true,
            document: None,
            state: WindowState::default(),
            monitor: None,
        };
        let mut element = Element::new(ElementId(1), Role::PUSH_BUTTON, long("e"));
        element.description = long("d");
        element.text = Some(long("x"));
        let surface = Surface { window, tree: Tree { elements: vec![element], ..Tree::default() } };
        let view = WindowView { surfaces: vec![surface], picture: None, notices: vec![long("o")] };
        let clipped = Observation::Window(view).clipped();
        assert!(characters(&clipped) < 30_000, "{}", characters(&clipped));
        assert_eq!(clipped.clone().clipped(), clipped);
    }

    #[test]
    fn results_are_bounded_and_short_ones_unchanged() {
        let result = |report: CallReport, output: Value| CallResult {
            report,
            output,
            ..CallResult::failure(None, "")
        };
        let short = result(CallReport::text("done"), json!({"rows": [["a", 1], ["b", 2]]}));
        assert_eq!(short.clone().clipped(), short);
        let long = "x".repeat(OUTPUT_CHARS_MAX);
        let check = |output: Value| {
            let clipped = result(CallReport::text(long.clone()), output).clipped();
            assert!(
                characters(&clipped) < 2 * OUTPUT_VALUES_MAX + OUTPUT_CHARS_MAX + MESSAGE_CHARS_MAX + 2_000
            );
            assert!(clipped.output.to_string().contains('…'));
        };
        check(json!([long, long]));
        check(json!({"rows": [[format!("{long}{long}")]]}));
        check(json!([vec![1; OUTPUT_VALUES_MAX], vec![2; OUTPUT_VALUES_MAX]]));
    }
}
