//! Reads the arguments of a command once, into what it is aimed at.

use serde_json::{Map, Value};

use super::{CommandAim, Does, Intent, Takes};
use crate::{
    command::{ToolCommand, ToolSpec},
    secret,
};
use deskhand_ui::{
    ids::{ElementId, WindowId},
    keys::KeyChord,
};

/// Gives a command its intent, and its arguments in canonical form: ids with their letter, keys as chords in one spelling.
/// A command of an unknown tool has none.
///
/// # Errors
/// The argument that cannot be read as what its tool declares, with what it expects.
pub fn read(command: &mut ToolCommand, tools: &[ToolSpec]) -> Result<(), String> {
    command.intent = Intent::default();
    let Some(tool) = command.tool_in(tools) else { return Ok(()) };
    command.intent.does = tool.does;
    let mut aims = Vec::new();
    let mut across: Option<f64> = None;
    // In the order of the declaration, not of the reply: that of a canonical value is always the same.
    for (name, takes) in &tool.takes {
        let Some(value) = command.arguments.get_mut(name).filter(|value| !value.is_null()) else { continue };
        match aim(*takes, value, &mut across) {
            Ok(aimed) => aims.extend(aimed),
            Err(expected) => {
                return Err(format!("`{name}` must be {expected}, and is {value}; nothing was done"));
            }
        }
    }
    drop_blank_names(&mut aims);
    command.intent.aims = aims;
    Ok(())
}

/// One argument: what it is aimed at, and the argument in canonical form. The error says what it has to be.
fn aim(takes: Takes, value: &mut Value, across: &mut Option<f64>) -> Result<Vec<CommandAim>, &'static str> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Ok(vec![match takes {
        Takes::Element => {
            let id = element_id(value).ok_or("the id of an element, such as e17")?;
            *value = Value::String(id.to_string());
            CommandAim::Element { id }
        }
        Takes::Window => {
            let id: WindowId = text(value)
                .and_then(|text| text.trim().parse().ok())
                .ok_or("the id of a window, such as w2")?;
            *value = Value::String(id.to_string());
            CommandAim::Window { id }
        }
        Takes::Name => CommandAim::Name { name: text(value).ok_or("a name")? },
        Takes::Item => CommandAim::Item { name: text(value).ok_or("the name of an item")? },
        Takes::Items => {
            let names = texts(value).ok_or("a list of names")?;
            return Ok(names.into_iter().map(|name| CommandAim::Item { name }).collect());
        }
        Takes::Path => CommandAim::Path { names: texts(value).ok_or("a list of names")? },
        Takes::Keys => {
            const KEYS: &str =
                "key chords separated by spaces, such as ctrl+s (modifiers: ctrl, shift, alt, super)";
            let keys = text(value).ok_or(KEYS)?;
            let chords: Result<Vec<KeyChord>, _> = keys.split_whitespace().map(str::parse).collect();
            let chords: Vec<KeyChord> =
                chords.map_err(|_| KEYS)?.into_iter().map(KeyChord::canonical).collect();
            *value = chords.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ").into();
            CommandAim::Keys { chords }
        }
        Takes::Text => {
            let text = text(value).ok_or("a text")?;
            match secret::reference(&text) {
                Some(name) => CommandAim::Secret { name: name.to_owned() },
                None => CommandAim::Text { presses_return: text.contains(['\n', '\r']) },
            }
        }
        Takes::Value => {
            let Some(name) = value.as_str().and_then(secret::reference) else { return Ok(Vec::new()) };
            CommandAim::Secret { name: name.to_owned() }
        }
        Takes::Pasted => {
            CommandAim::Text { presses_return: text(value).ok_or("a text")?.contains(['\n', '\r']) }
        }
        Takes::Across => {
            *across = Some(value.as_f64().ok_or("a fraction of the window from 0 to 1")?);
            return Ok(Vec::new());
        }
        Takes::Down => {
            let y = value.as_f64().ok_or("a fraction of the window from 0 to 1")?;
            let Some(x) = across.take() else { return Ok(Vec::new()) };
            CommandAim::Place { x, y }
        }
        Takes::Program => CommandAim::Program { name: text(value).ok_or("the name of a program")? },
        Takes::Files => CommandAim::Files { files: texts(value).ok_or("a list of texts")? },
        Takes::Replaces => match value.as_bool().ok_or("true or false")? {
            true => CommandAim::Replaces,
            false => return Ok(Vec::new()),
        },
        // They stand around what is pressed.
        Takes::Question => {
            text(value).ok_or("what the dialog says")?;
            return Ok(Vec::new());
        }
        Takes::Accepts => {
            value.as_bool().ok_or("true or false")?;
            return Ok(Vec::new());
        }
        Takes::Address => CommandAim::Files { files: vec![text(value).ok_or("the address of a page")?] },
        Takes::File | Takes::Chosen => {
            CommandAim::Files { files: vec![text(value).ok_or("the path of a file")?] }
        }
    }])
}

/// The id of an element in any of the forms that models write: `e17`, `E17`, `17` or the number.
pub fn element_id(value: &Value) -> Option<ElementId> {
    if let Some(number) = value.as_u64() {
        return u32::try_from(number).ok().map(ElementId);
    }
    let text = value.as_str()?.trim();
    let digits = text.strip_prefix(['e', 'E']).unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok().map(ElementId))?
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|one| one.as_str().map(str::to_owned)).collect()
}

/// A blank name is none.
fn drop_blank_names(aims: &mut Vec<CommandAim>) {
    aims.retain(|aimed| match aimed {
        CommandAim::Name { name } | CommandAim::Item { name } | CommandAim::Program { name } => {
            !name.trim().is_empty()
        }
        CommandAim::Path { names } | CommandAim::Files { files: names } => !names.is_empty(),
        CommandAim::Keys { chords } => !chords.is_empty(),
        CommandAim::Element { .. }
        | CommandAim::Place { .. }
        | CommandAim::Text { .. }
        | CommandAim::Secret { .. }
        | CommandAim::Window { .. }
        | CommandAim::Replaces => true,
    });
}

impl Intent {
    /// Returns `true` if nothing was read, as before the gate.
    pub const fn is_default(&self) -> bool {
        matches!(self.does, Does::Other) && self.aims.is_empty()
    }

    /// Returns `true` if the application may go on to another page or dialog after it, so that what it shows is something else.
    pub fn may_go_on(&self) -> bool {
        if self.does == Does::Type { self.presses_return() } else { !self.does.stays() }
    }

    /// Returns `true` if a text that it enters has a line break, which presses Return.
    pub(crate) fn presses_return(&self) -> bool {
        self.aims.iter().any(|aimed| matches!(aimed, CommandAim::Text { presses_return: true }))
    }

    /// The key chords that it presses, in order.
    pub fn chords(&self) -> impl Iterator<Item = &KeyChord> {
        self.aims.iter().flat_map(|aimed| {
            let chords: &[KeyChord] = if let CommandAim::Keys { chords } = aimed { chords } else { &[] };
            chords
        })
    }

    /// The elements that it is aimed at by their ids.
    pub fn elements(&self) -> impl Iterator<Item = ElementId> {
        self.aims
            .iter()
            .filter_map(|aimed| if let CommandAim::Element { id } = aimed { Some(*id) } else { None })
    }

    /// The files that it names.
    pub fn files(&self) -> impl Iterator<Item = &String> {
        self.aims.iter().flat_map(|aimed| {
            let files: &[String] = if let CommandAim::Files { files } = aimed { files } else { &[] };
            files
        })
    }

    /// The places that it is aimed at, as fractions of the width and the height of the window.
    pub fn places(&self) -> impl Iterator<Item = (f64, f64)> {
        self.aims
            .iter()
            .filter_map(|aimed| if let CommandAim::Place { x, y } = aimed { Some((*x, *y)) } else { None })
    }
}

/// The arguments of a tool that declare what they are, read from its JSON schema; the declarations are taken out of it.
pub fn take_declarations(schema: &mut Map<String, Value>) -> Vec<(String, Takes)> {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return Vec::new() };
    let mut declared = Vec::new();
    for (name, property) in properties {
        let word = property.as_object_mut().and_then(|property| property.shift_remove(Takes::SCHEMA_KEY));
        let takes = word.as_ref().and_then(Value::as_str).and_then(Takes::from_word);
        declared.extend(takes.map(|takes| (name.clone(), takes)));
    }
    declared
}
