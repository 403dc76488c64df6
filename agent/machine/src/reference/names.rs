//! Converts calls of reference tools.

use serde_json::{Map, Value, json};

use super::{
    arguments::{Problem, RemainingArguments},
    keys::{self, KeySequenceItem},
};
use crate::{
    command::{CallResult, ToolCommand},
    known_tools,
    reply::ProposedAction,
};
use deskhand_ui::action::Verdict;

/// Reference tools that are converted, with our tool. Its `click_on_coordinates`, `drag_on_coordinates`, `wait`,
/// `summary` and `select_application_window` are tools here under the same names; `annotation` becomes SCREENSHOT with
/// `control_reannotate`.
pub const REFERENCE_NAMES: &[(&str, &str)] = &[
    ("click_input", known_tools::CLICK),
    ("set_edit_text", known_tools::TYPE),
    ("keyboard_input", known_tools::PRESS_KEYS),
    ("wheel_mouse_input", known_tools::SCROLL),
    ("texts", known_tools::READ_TEXT),
];

/// The reference's tool to annotate some controls.
pub const ANNOTATION: &str = "annotation";

/// Converts the actions of a reply to our own tools. An action with invalid arguments is left unchanged;
/// [`refusal`] reports it to the agent.
pub fn to_own_tools(actions: Vec<ProposedAction>) -> Vec<ProposedAction> {
    actions
        .into_iter()
        .flat_map(|action| match own(&action.function, &action.arguments) {
            Some(Ok(mut own)) => {
                if let Some(last) = own.last_mut() {
                    last.expect = action.expect;
                }
                own
            }
            Some(Err(_)) | None => vec![action],
        })
        .collect()
}

/// Refuses a command with a reference name and invalid arguments; `None` for any other command.
pub fn refusal(command: &ToolCommand) -> Option<CallResult> {
    let problem = own(&command.tool, &command.arguments)?.err()?;
    Some(CallResult::failure(
        Some(Verdict::Refused),
        format!("invalid arguments: {problem}; nothing was done"),
    ))
}

type Own = Result<Vec<ProposedAction>, Problem>;

/// The actions for a reference tool; `None` if `name` is not one.
fn own(name: &str, arguments: &Map<String, Value>) -> Option<Own> {
    let turn = match name {
        "click_input" => click_input,
        "set_edit_text" => set_edit_text,
        "keyboard_input" => keyboard_input,
        "wheel_mouse_input" => wheel_mouse_input,
        "texts" => texts,
        ANNOTATION => annotation,
        _ => return None,
    };
    let mut given = RemainingArguments::of(name, arguments);
    Some(turn(&mut given).and_then(|own| given.end().map(|()| own)))
}

/// One action without its null arguments.
fn action(function: &str, arguments: Value) -> ProposedAction {
    let arguments = match arguments {
        Value::Object(arguments) => arguments.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    };
    ProposedAction { function: function.to_owned(), arguments, expect: None, carries: Vec::new() }
}

/// `click_input(id, name, button=left, double=False)`
fn click_input(given: &mut RemainingArguments<'_>) -> Own {
    let (id, name) = (given.required_id()?, given.name()?);
    let button = match given.word("button", &["left", "right", "middle"])? {
        "left" => None,
        other => Some(other),
    };
    let count = given.flag("double", false)?.then_some(2);
    Ok(vec![action(known_tools::CLICK, json!({"id": id, "name": name, "button": button, "count": count}))])
}

/// `set_edit_text(id, name, text, clear_current_text=False)`
fn set_edit_text(given: &mut RemainingArguments<'_>) -> Own {
    let (id, name) = (given.required_id()?, given.name()?);
    let text = given.required_text("text", "give the text to write")?;
    let clear = given.flag("clear_current_text", false)?.then_some(true);
    Ok(vec![action(known_tools::TYPE, json!({"id": id, "name": name, "text": text, "clear": clear}))])
}

/// `keyboard_input(id, name, keys, control_focus=True)`: focuses the element first, if there is one.
fn keyboard_input(given: &mut RemainingArguments<'_>) -> Own {
    let (id, name) = (given.id()?, given.name()?);
    let keys = given.required_text("keys", "give the keys, such as {VK_CONTROL}c or hello{ENTER}")?;
    let focus = given.flag("control_focus", true)?;
    let parts = keys::parse(&keys).map_err(|problem| format!("keyboard_input: `keys`: {problem}"))?;
    let mut own = Vec::new();
    let mut into = id.filter(|_| focus);
    for part in parts {
        match part {
            KeySequenceItem::Text(text) => {
                let into = into.take();
                let name = name.as_ref().filter(|_| into.is_some());
                own.push(action(known_tools::TYPE, json!({"id": into, "name": name, "text": text})));
            }
            KeySequenceItem::Chords(chords) => {
                if let Some(id) = into.take() {
                    own.push(action(known_tools::FOCUS, json!({"id": id, "name": name})));
                }
                own.push(action(known_tools::PRESS_KEYS, json!({"keys": chords.join(" ")})));
            }
        }
    }
    Ok(own)
}

/// `wheel_mouse_input(id, name, wheel_dist=0)`: positive scrolls up.
fn wheel_mouse_input(given: &mut RemainingArguments<'_>) -> Own {
    let (id, name) = (given.required_id()?, given.name()?);
    let up = given.whole("wheel_dist")?;
    if up == 0 {
        return Err(
            "wheel_mouse_input: `wheel_dist` is 0; give notches, positive up and negative down".to_owned()
        );
    }
    Ok(vec![action(known_tools::SCROLL, json!({"id": id, "name": name, "down": -up}))])
}

/// `texts(id, name)`
fn texts(given: &mut RemainingArguments<'_>) -> Own {
    let (id, name) = (given.required_id()?, given.name()?);
    Ok(vec![action(known_tools::READ_TEXT, json!({"id": id, "name": name}))])
}

/// An `annotation` together with other actions, which cannot become SCREENSHOT.
fn annotation(_: &mut RemainingArguments<'_>) -> Own {
    Err("annotation only takes a screenshot; use it alone, or SCREENSHOT with `control_reannotate`"
        .to_owned())
}
