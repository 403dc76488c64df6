//! Texts that the commands of a reply enter into password fields, and into fields that are not determined yet.

use serde::Deserialize as _;
use serde_json::Value;

use super::{
    app_view::{commands_of, tools_of},
    at_hand::AtHand,
    judging::{GateContext, IntentReadError},
    keyboard::shows_password,
    ledgers::Ledgers,
};
use crate::{
    agent::SubtaskWorker,
    command::{ToolCommand, ToolSpec},
    intent::{Takes, element_id},
    observation::Observation,
    policy::{PasswordPlace, ValueContext, pastes_clipboard, texts_entered},
    reply::AppReply,
    secret::AFTER,
};
use deskhand_ui::{Description, Role, State, WindowView, secret::is_dots};

/// The longest password, in characters.
const VALUE_MAX: usize = 1_000;

/// The most parts of a text that fills in fields, each behind a tab or a line break: what has more is a document.
const PARTS_MAX: usize = 8;

/// A text that a command enters.
pub(super) struct CommandTextEntry {
    /// The text, without the keys that follow it.
    pub(super) text: String,
    /// Form in its argument, if different: key chords.
    pub(super) written: Option<String>,
    /// The field for passwords that it goes to; `None` if its field is not known yet.
    pub(super) place: Option<PasswordPlace>,
}

impl CommandTextEntry {
    /// Returns the texts that an invalid reply would enter while password fields are visible, or into an element
    /// that it describes.
    pub(super) fn in_invalid(text: &str, view: &WindowView) -> Vec<Self> {
        let start = text.find('{').unwrap_or_default();
        let mut values =
            serde_json::Deserializer::from_str(text.get(start..).unwrap_or_default()).into_iter();
        let mut found = Vec::new();
        if let Some(Ok(json)) = values.next() {
            texts_in(&json, shows_password(view), &mut found);
        }
        found.into_iter().map(|text| Self { text, written: None, place: None }).collect()
    }
}

fn texts_in(json: &Value, shows_password: bool, found: &mut Vec<String>) {
    const TEXTS: [&str; 4] = ["text", "value", "keys", "content"];
    match json {
        Value::Array(items) => items.iter().for_each(|item| texts_in(item, shows_password, found)),
        Value::Object(fields) => {
            if shows_password || fields.values().any(Value::is_object) {
                let texts = fields.iter().filter(|(key, _)| TEXTS.contains(&key.as_str()));
                let texts = texts.filter_map(|(_, text)| text.as_str());
                found.extend(texts.flat_map(|text| text.split(AFTER)).map(str::to_owned));
            }
            fields.values().for_each(|field| texts_in(field, shows_password, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the texts that a decision enters, whatever its status: it is recorded in any case.
pub(super) fn entries_of(
    ledgers: &Ledgers,
    worker: SubtaskWorker,
    seen: &Observation,
    decision: &AppReply,
) -> Vec<CommandTextEntry> {
    entries_in(ledgers, worker, seen, commands_of(decision, worker))
}

/// Returns the texts that commands enter, in order, as far as they may be passwords.
pub(super) fn entries_in(
    ledgers: &Ledgers,
    worker: SubtaskWorker,
    seen: &Observation,
    commands: Vec<ToolCommand>,
) -> Vec<CommandTextEntry> {
    let Observation::Window(view) = seen else { return Vec::new() };
    let tools = tools_of(ledgers, worker);
    let secrets = ledgers.secrets();
    let judging = GateContext {
        policy: &ledgers.config.policy,
        grants: &ledgers.grants,
        observation: seen,
        tools: &tools,
        applications: ledgers.config.applications.as_deref(),
        secrets: &secrets,
        places: &ledgers.config.places,
        texts: &AtHand::new(ledgers, seen),
        effect: ledgers.effects.next_id(),
    };
    let mut before = Vec::new();
    let mut found = Vec::new();
    let mut copied = Vec::new();
    let mut later = false;
    for mut command in commands {
        let entered = texts_entered(&command, &tools);
        let read = if later { Err(IntentReadError::Later) } else { judging.read(&before, &mut command) };
        later |= matches!(read, Err(IntentReadError::Later));
        let (mut place, mut is_open) = (None, true);
        if read.is_ok() {
            let reading = judging.reading(&before);
            place = PasswordPlace::of(&command, &reading);
            is_open = place.is_none() && shows_password(view) && is_anywhere(&command, &reading);
            if pastes(&command) {
                found.extend(
                    copied.drain(..).filter(|_| place.is_some() || is_open).map(|text| CommandTextEntry {
                        text,
                        written: None,
                        place: place.clone(),
                    }),
                );
            }
        } else if !may_be_password(&command, view, &tools) {
            is_open = false;
        }
        let stays = keeps_lines(&command, view) || !shows_password(view);
        if command.takes_in(&tools).is_empty() {
            copied.extend(entered.iter().map(|text| text.text.clone()));
        }
        for text in entered.iter().filter(|text| text.text.split(AFTER).count() <= PARTS_MAX) {
            for (at, part) in text.text.split(AFTER).enumerate().filter(|(_, part)| !part.is_empty()) {
                // What follows a tab or a line break goes to another field.
                let place = if at == 0 { place.clone() } else { None };
                if place.is_some() || is_open || (at > 0 && !stays) {
                    found.push(CommandTextEntry {
                        text: part.to_owned(),
                        written: text.written.clone(),
                        place,
                    });
                }
            }
        }
        before.push(command);
    }
    found
}

/// Returns `true` if a text can be a password: one line, of some length, and no dots that stand for one.
pub(super) fn is_typable(text: &str) -> bool {
    let is_short = (1..=VALUE_MAX).contains(&text.chars().count());
    is_short && !text.chars().any(char::is_control) && !is_dots(text)
}

/// Returns `true` if a command enters a text into an element that is not shown, or into what has the keyboard while that is not known.
fn is_anywhere(command: &ToolCommand, reading: &ValueContext<'_>) -> bool {
    let Observation::Window(view) = reading.observation else { return false };
    let mut elements = command.intent.elements().peekable();
    if elements.peek().is_some() {
        return elements.any(|id| view.elements().all(|one| one.id != id));
    }
    let aimed = reading.before.iter().any(|one| one.intent.elements().next().is_some());
    !aimed && view.elements().all(|one| !one.states.has(State::Focused))
}

/// Returns `true` if a command pastes what the clipboard holds.
fn pastes(command: &ToolCommand) -> bool {
    command.intent.chords().any(pastes_clipboard)
}

/// Returns `true` if a command types into something with many lines, where tabs and line breaks stay.
fn keeps_lines(command: &ToolCommand, view: &WindowView) -> bool {
    let mut aimed = command.intent.elements().filter_map(|id| view.elements().find(|one| one.id == id));
    aimed.next().is_some_and(|one| one.states.has(State::MultiLine))
}

/// Returns `true` if a command whose intent was not read may enter a text into a field for passwords.
fn may_be_password(command: &ToolCommand, view: &WindowView, tools: &[ToolSpec]) -> bool {
    let takes = command.takes_in(tools);
    let aimed = takes.iter().find(|(_, takes)| *takes == Takes::Element);
    let Some(value) = aimed.and_then(|(name, _)| command.arguments.get(name)).filter(|id| !id.is_null())
    else {
        let types = [Takes::Text, Takes::Pasted, Takes::Keys];
        return takes.iter().any(|(_, takes)| types.contains(takes));
    };
    if value.is_object() {
        return Description::deserialize(value).map_or(true, |one| one.may_have(&Role::PASSWORD_TEXT));
    }
    let known = element_id(value).and_then(|id| view.elements().find(|one| one.id == id));
    known.is_none_or(|element| element.role == Role::PASSWORD_TEXT || element.child_count > 0)
}
