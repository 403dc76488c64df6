//! Secrets by name: where each may be typed. Their values are unknown here.
//!
//! A text that is `secret:NAME` as a whole refers to a secret. Only an action that types it into one field, given by its id, may
//! carry one ([`CommandAim::Secret`]); the gate refuses it everywhere else. Without a permission of the configuration it is typed nowhere.

use serde_json::Value;

pub use deskhand_ui::secret::{
    AFTER, DOTS, FieldPage, PREFIX, SecretField, SecretPermit, is_dots, is_name, keys_behind, mark, reference,
};

use crate::{
    command::{CallResult, ToolCommand, ToolSpec},
    intent::{CommandAim, Takes},
    observation::Observation,
};
use deskhand_ui::{WindowView, action::Verdict, ids::ElementId, pattern::matches};

/// Returns `true` if a command presses Return behind a password.
pub(crate) fn presses_return(command: &ToolCommand) -> bool {
    let mut texts = command.arguments.values().filter_map(Value::as_str);
    named(command).is_some_and(is_dots) && texts.any(|text| text.ends_with(['\n', '\r']))
}

/// The secret that a command types.
pub fn secret_of(command: &ToolCommand) -> Option<(&str, ElementId)> {
    named(command).zip(command.intent.elements().next())
}

fn named(command: &ToolCommand) -> Option<&str> {
    let mut aims = command.intent.aims.iter();
    aims.find_map(|aimed| if let CommandAim::Secret { name } = aimed { Some(name.as_str()) } else { None })
}

/// The list of the secrets of an application in the prompt of its agent; empty if there is none.
pub(crate) fn listing(secrets: &[SecretPermit], application: &str, root: &str) -> String {
    let here = secrets
        .iter()
        .filter(|one| matches(&one.application, application) || matches(&one.application, root));
    here.map(|one| format!("- `{}` for: {}", mark(&one.name), one.place())).collect::<Vec<_>>().join("\n")
}

/// Refuses a command with a reference to a secret, unless it types it into a field that the configuration allows for it.
pub(crate) fn refusal(
    command: &ToolCommand,
    tools: &[ToolSpec],
    observation: &Observation,
    secrets: &[SecretPermit],
) -> Option<CallResult> {
    let refused = |why: String| Some(CallResult::failure(Some(Verdict::Refused), format!("not run: {why}")));
    if let Some(name) = misplaced(command, tools, secrets) {
        let is_withheld = |one: &SecretPermit| one.name == name && one.is_withheld();
        if secrets.iter().any(is_withheld) {
            return refused(field_unknown(name));
        }
        return refused(format!(
            "`{}` can only be the whole text of type_text or the whole value of set_value, with the id of \
             the field; it is in no key, no program, no command, no file and not on the clipboard",
            mark(name)
        ));
    }
    let name = named(command)?;
    let Some(permit) = secrets.iter().find(|one| one.name == name) else {
        if is_dots(name) {
            return refused(format!("no password `{name}` was typed in this session; ask for it"));
        }
        let known: Vec<String> = secrets.iter().map(|one| format!("{PREFIX}{}", one.name)).collect();
        let known =
            if known.is_empty() { "none is".to_owned() } else { format!("configured: {}", known.join(", ")) };
        return refused(format!(
            "no secret `{name}` is configured ({known}); `[secrets.{name}]` would say where it is"
        ));
    };
    if permit.is_withheld() {
        return refused(field_unknown(name));
    }
    let Observation::Window(view) = observation else {
        return refused(format!("`{}` is typed in a window alone", mark(name)));
    };
    let mut elements = command.intent.elements();
    let (Some(id), None) = (elements.next(), elements.next()) else {
        return refused(format!("`{}` is typed into one field alone; give its id", mark(name)));
    };
    admitted(permit, id, view).err().and_then(refused)
}

/// Why a text is not typed that may be a password.
fn field_unknown(dots: &str) -> String {
    format!(
        "`{dots}` stands for a text that may be a password, because its field is not known; type it alone, with the id of its field as it \
         is shown now"
    )
}

/// Checks that an element in the agent's view may receive a secret.
fn admitted(permit: &SecretPermit, id: ElementId, view: &WindowView) -> Result<(), String> {
    let found = view.surfaces.iter().find_map(|surface| Some((surface, surface.tree.find(id)?)));
    let Some((surface, element)) = found else {
        return Err(format!("no element {id} in your view; use an element that is listed"));
    };
    permit.admits(&SecretField {
        element,
        application: &surface.window.app.name,
        application_root: &surface.window.app.root,
        window: &surface.window.title,
        page: FieldPage::of(surface.tree.page_of(id)),
    })
}

/// The secret that an argument refers to where no secret may be. A name or a path may look like a reference, because that stands in
/// place of a value that is shown; nothing is put in there.
fn misplaced<'a>(command: &ToolCommand, tools: &[ToolSpec], secrets: &'a [SecretPermit]) -> Option<&'a str> {
    let declared = command.takes_in(tools);
    let takes = |name: &str| declared.iter().find(|(known, _)| known == name).map(|(_, takes)| *takes);
    command.arguments.iter().find_map(|(name, value)| match takes(name) {
        Some(Takes::Name | Takes::Item | Takes::Items | Takes::Path | Takes::Element | Takes::Window) => None,
        Some(Takes::Text | Takes::Value) if value.as_str().is_some_and(|text| reference(text).is_some()) => {
            None
        }
        Some(
            Takes::Text
            | Takes::Value
            | Takes::Pasted
            | Takes::Keys
            | Takes::Across
            | Takes::Down
            | Takes::Program
            | Takes::Files
            | Takes::File
            | Takes::Chosen
            | Takes::Address
            | Takes::Question
            | Takes::Accepts
            | Takes::Replaces,
        )
        | None => mentioned(value, secrets),
    })
}

/// The configured secret that a value mentions.
fn mentioned<'a>(value: &Value, secrets: &'a [SecretPermit]) -> Option<&'a str> {
    match value {
        Value::String(text) => secrets.iter().map(|one| one.name.as_str()).find(|name| mentions(text, name)),
        Value::Array(items) => items.iter().find_map(|item| mentioned(item, secrets)),
        Value::Object(fields) => fields.values().find_map(|field| mentioned(field, secrets)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Returns `true` if a text contains the reference to a secret, in any case.
fn mentions(text: &str, name: &str) -> bool {
    let (text, whole) = (text.to_ascii_lowercase(), mark(name).to_ascii_lowercase());
    text.match_indices(&whole).any(|(at, found)| {
        let next = text.get(at + found.len()..).and_then(|rest| rest.chars().next());
        next.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
    })
}

#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;
