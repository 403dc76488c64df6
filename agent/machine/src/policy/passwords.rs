//! Texts that go into fields for passwords.

use serde_json::Value;

use super::{
    envelope::Own,
    origin::Texts,
    values::{ValueContext, letter},
};
use crate::{
    command::{ToolCommand, ToolSpec},
    intent::{CommandAim, Does, Takes},
    observation::Observation,
    secret::AFTER,
};
use deskhand_ui::{
    Element, Role, State, Surface,
    ids::ElementId,
    keys::KeyChord,
    secret::{FieldPage, is_dots},
};

/// The field for passwords that a command enters a text into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PasswordPlace {
    /// The application's short name.
    pub(crate) application: String,
    /// The host of the page that the field is in.
    pub(crate) host: Option<String>,
    /// Place of the text, if the user has not provided it.
    pub(crate) from: Option<String>,
}

impl PasswordPlace {
    /// Returns the password field into which a command enters something in clear, if there is one. The intent of
    /// the command has been read.
    pub(crate) fn of(command: &ToolCommand, reading: &ValueContext<'_>) -> Option<Self> {
        let Observation::Window(view) = reading.observation else { return None };
        let enters =
            matches!(command.intent.does, Does::Type | Does::Set) || command.intent.chords().next().is_some();
        if !enters || named(command).is_some() {
            return None;
        }
        let own = Own::of(command, view, reading);
        let surface = own.surface?;
        let field = password_field(own.field?, surface)?;
        let page = FieldPage::of(surface.tree.page_of(field.id));
        Some(Self {
            from: own.password(command, reading.texts),
            application: surface.window.app.root.clone(),
            host: if let FieldPage::Of(host) = page { Some(host) } else { None },
        })
    }
}

/// A text that a command enters.
pub(crate) struct EnteredText {
    /// The text.
    pub(crate) text: String,
    /// Form in its argument, if different: key chords.
    pub(crate) written: Option<String>,
}

/// The texts that a command enters, of a reply that was not read yet: of each argument, and of the letters among its key chords.
pub(crate) fn texts_entered(command: &ToolCommand, tools: &[ToolSpec]) -> Vec<EnteredText> {
    let Some(tool) = command.tool_in(tools) else { return Vec::new() };
    let enters = matches!(tool.does, Does::Type | Does::Set);
    let takes = |name: &String| tool.takes.iter().find(|(known, _)| known == name).map(|(_, takes)| *takes);
    let mut texts = Vec::new();
    for (name, value) in &command.arguments {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => continue,
        };
        match takes(name) {
            Some(Takes::Keys) => {
                let chords = text.split_whitespace().filter_map(|chord| chord.parse::<KeyChord>().ok());
                let letters: String = chords.filter_map(|chord| letter(&chord)).collect();
                if !letters.is_empty() {
                    texts.push(EnteredText { text: letters, written: Some(text) });
                } else if is_dots(&text) {
                    // Keys that were withheld.
                    texts.push(EnteredText { text, written: None });
                }
            }
            // What an argument does not declare may be a value that is set.
            takes if enters && takes.is_none_or(Takes::is_text) => {
                texts.push(EnteredText { text, written: None });
            }
            Some(_) | None => {}
        }
    }
    texts
}

/// Returns `true` if a command enters a text that may be a password where the keyboard goes, whatever that is: it names no element.
pub(crate) fn enters_at_focus(command: &ToolCommand, tools: &[ToolSpec]) -> bool {
    let takes = command.takes_in(tools);
    let given = |(name, _): &&(String, Takes)| command.arguments.get(name).is_some_and(|one| !one.is_null());
    let has = |wanted: &[Takes]| takes.iter().filter(given).any(|(_, takes)| wanted.contains(takes));
    let is_line = |text: &EnteredText| {
        let text = text.text.trim_end_matches(AFTER);
        !text.is_empty() && !text.contains(['\n', '\r'])
    };
    !has(&[Takes::Element, Takes::Question])
        && has(&[Takes::Text, Takes::Pasted, Takes::Keys])
        && texts_entered(command, tools).iter().any(is_line)
}

/// The field for passwords that takes a password by its dots, where the command names another element: none, so that the keyboard decides,
/// or a part of the field.
pub(crate) fn field_for_dots(command: &ToolCommand, reading: &ValueContext<'_>) -> Option<ElementId> {
    let Observation::Window(view) = reading.observation else { return None };
    named(command).filter(|name| is_dots(name))?;
    let own = Own::of(command, view, reading);
    let field = password_field(own.field?, own.surface?)?;
    (command.intent.elements().next() != Some(field.id)).then_some(field.id)
}

/// The field for passwords that an element is, is a part of (GTK 4 has a text in it), or has in it: a text for a container goes to the
/// field in it that has the keyboard, if one has it.
fn password_field<'a>(element: &'a Element, surface: &'a Surface) -> Option<&'a Element> {
    let is_it = |element: &&Element| element.role == Role::PASSWORD_TEXT;
    let outside = Some(element).filter(is_it).or_else(|| surface.tree.ancestors(element.id).find(is_it));
    let inside = || {
        let mut within = surface.tree.descendants(element.id);
        let has_keyboard = |one: &&Element| one.states.has(State::Focused);
        match surface.tree.descendants(element.id).find(has_keyboard) {
            Some(focused) => Some(focused).filter(is_it),
            None => within.find(is_it),
        }
    };
    outside.or_else(inside)
}

/// Returns the origin of a secret that a command types, if that is a password that the user has not provided.
pub(super) fn origin_of_secret(command: &ToolCommand, texts: &dyn Texts) -> Option<String> {
    texts.password_from(named(command)?)
}

/// The secret that a command types, by its name or its dots.
fn named(command: &ToolCommand) -> Option<&str> {
    let mut aims = command.intent.aims.iter();
    aims.find_map(|aimed| if let CommandAim::Secret { name } = aimed { Some(name.as_str()) } else { None })
}
