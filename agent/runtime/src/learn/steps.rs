//! Acts to steps: which of them are repeated, with which elements, and what must come of them.

use std::collections::BTreeSet;

use deskhand_machine::{
    command::ToolSpec,
    intent::{Does, Takes},
    known_tools::{RECALL, RUN_WORKFLOW, SCROLL},
    workflow::{
        StepExpectation, StepWindow, WorkflowStep, literal,
        selector::{NamePattern, Selector},
    },
};
use deskhand_ui::{
    WindowKind,
    action::Verdict,
    ids::{ElementId, WindowId},
    names_equal,
};
use serde_json::{Map, Value};

use super::{acts::ObservedCall, readings::Readings};

/// Tools that look at or move the view alone: a step finds its element without them. Of a workflow that was run, the steps are there.
const NOT_REPEATED: &[&str] = &[
    "more",
    "summary",
    "calculate",
    "wait",
    "scroll_into_view",
    "list_windows",
    RECALL,
    RUN_WORKFLOW,
    SCROLL,
];

/// The steps of these acts.
pub(super) fn steps(
    acts: &[ObservedCall],
    readings: &Readings,
    tools: &[ToolSpec],
    notes: &mut Vec<String>,
) -> Vec<WorkflowStep> {
    let mut steps = Vec::new();
    let mut uncalled = UnpromptedDialogs::default();
    for (index, act) in acts.iter().enumerate() {
        if is_repeated(act, readings.saved.contains_key(&index)) {
            let maybe = uncalled.has(act, tools);
            match step(act, (index, readings), tools) {
                Ok(step) => steps.push(WorkflowStep { maybe, ..step }),
                Err(why) => notes.push(format!("`{}` is left out: {why}", act.command.to_line())),
            }
        }
    }
    steps
}

/// Dialogs that came without anything that was done: they were there when their application was first worked with, such as a tip of the
/// day. Another time they may not come.
#[derive(Default)]
struct UnpromptedDialogs {
    /// Applications that were worked with, by their root.
    applications: BTreeSet<String>,
    dialogs: BTreeSet<WindowId>,
}

impl UnpromptedDialogs {
    /// Returns `true` if an act is aimed at an element of such a dialog.
    fn has(&mut self, act: &ObservedCall, tools: &[ToolSpec]) -> bool {
        let Some(view) = act.view.as_ref().filter(|_| !act.is_host) else { return false };
        let takes = act.command.takes_in(tools);
        let elements = takes.iter().filter(|(_, takes)| *takes == Takes::Element);
        let mut ids = elements.filter_map(|(name, _)| element_id(act.command.arguments.get(name)?));
        let surface =
            ids.next().and_then(|id| view.surfaces.iter().find(|surface| surface.tree.find(id).is_some()));
        let dialog =
            surface.map(|surface| &surface.window).filter(|window| window.kind == WindowKind::Dialog);
        let Some(main) = view.surfaces.first() else { return false };
        let application = &main.window.app.root;
        match dialog {
            Some(dialog) if !self.applications.contains(application) => {
                self.dialogs.insert(dialog.id);
                true
            }
            Some(dialog) => self.dialogs.contains(&dialog.id),
            None => {
                self.applications.insert(application.clone());
                false
            }
        }
    }
}

/// Returns `true` if an act is a part of the work: it had an effect, or what it read is used.
fn is_repeated(act: &ObservedCall, is_read: bool) -> bool {
    let happened = act.result.is_success() && act.result.effect != Some(Verdict::NotSeen);
    match act.command.intent.does {
        _ if !happened || NOT_REPEATED.contains(&act.command.tool.as_str()) => is_read && happened,
        Does::Read => is_read,
        // The window of a step says where it is done, and starts its application.
        Does::Switch | Does::Delegate => false,
        Does::Open if act.is_host => act.command.arguments.contains_key("files"),
        Does::Wait
        | Does::Other
        | Does::Press
        | Does::Type
        | Does::Drag
        | Does::Set
        | Does::Point
        | Does::Open
        | Does::Close
        | Does::Save
        | Does::Run => true,
    }
}

fn step(
    act: &ObservedCall,
    (index, readings): (usize, &Readings),
    tools: &[ToolSpec],
) -> Result<WorkflowStep, String> {
    let takes = act.command.takes_in(tools);
    let mut step = WorkflowStep {
        about: act.about.clone(),
        call: act.command.tool.clone(),
        save: readings.saved.get(&index).cloned(),
        expect: expected(act),
        window: if act.is_host { None } else { Some(window(act)?) },
        ..WorkflowStep::default()
    };
    // Beside an element its name guards it; alone it says which one is meant.
    let has_element = takes
        .iter()
        .any(|(name, takes)| *takes == Takes::Element && act.command.arguments.contains_key(name));
    for (name, value) in &act.command.arguments {
        let is = |wanted: Takes| takes.iter().any(|(known, takes)| known == name && *takes == wanted);
        if is(Takes::Element) {
            let selector = selector(act, value)?;
            step.aims.insert(name.clone(), selector);
        } else if is(Takes::Window) {
            return Err("it is aimed at a window by its number, which another run does not have".to_owned());
        } else if !(is(Takes::Name) && has_element) {
            step.arguments.insert(name.clone(), argument(value, index, readings));
        }
    }
    Ok(step)
}

/// An argument, with references to what was read.
fn argument(value: &Value, index: usize, readings: &Readings) -> Value {
    match value {
        Value::String(text) => match readings.path(index, text) {
            Some(path) => Value::String(format!("{{{path}}}")),
            None => Value::String(literal(text)),
        },
        Value::Number(number) => match readings.path(index, &number.to_string()) {
            Some(path) => Value::String(format!("{{{path}}}")),
            None => value.clone(),
        },
        Value::Array(values) => match readings.path(index, &value.to_string()) {
            Some(path) => Value::String(format!("{{{path}}}")),
            None => Value::Array(values.iter().map(|value| argument(value, index, readings)).collect()),
        },
        Value::Object(fields) => {
            let filled = fields.iter().map(|(name, value)| (name.clone(), argument(value, index, readings)));
            Value::Object(filled.collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) => value.clone(),
    }
}

/// The window that an act was done in.
fn window(act: &ObservedCall) -> Result<StepWindow, String> {
    let surface = act.view.as_ref().and_then(|view| view.surfaces.first());
    let window = &surface.ok_or("its window was never seen")?.window;
    let document = window.document.as_ref().and_then(|document| document.path.as_deref());
    let file = document.and_then(|path| path.rsplit('/').next());
    Ok(StepWindow {
        application: window.app.root.clone(),
        name: window.app.name.clone(),
        title: NamePattern::of_title(&window.title, &window.app.name, file),
    })
}

/// The element that an argument names.
fn element_id(value: &Value) -> Option<ElementId> {
    value.as_str()?.trim().parse().ok()
}

/// The element of an act, by what it is recognised by.
fn selector(act: &ObservedCall, value: &Value) -> Result<Selector, String> {
    let id = element_id(value).ok_or_else(|| format!("{value} is no element"))?;
    let view = act.view.as_ref().ok_or("its window was never seen")?;
    Selector::of(view, id).map(Selector::written).ok_or_else(|| format!("{id} was never seen in its window"))
}

/// Returns the expected result of an act: the dialog that it opened, and whether its effect was seen.
fn expected(act: &ObservedCall) -> StepExpectation {
    let opened = act.result.window.as_ref().filter(|window| {
        let main = act.view.as_ref().and_then(|view| view.surfaces.first());
        let is_other = main.is_none_or(|main| !names_equal(&main.window.title, &window.title));
        window.kind == WindowKind::Dialog && is_other && !window.title.trim().is_empty()
    });
    StepExpectation {
        opens: opened.map(|window| literal(&window.title)),
        unseen: act.result.effect == Some(Verdict::Unknown),
    }
}
