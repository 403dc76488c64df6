//! Values that came from what was read: they are read again, not replayed.

use std::collections::{BTreeMap, BTreeSet};

use deskhand_machine::workflow::Values;
use serde_json::Value;

use super::acts::ObservedCall;

/// The shortest text that is taken for one that was read, in characters: a shorter one is equal by chance.
const CHARS_MIN: usize = 3;
/// The most values of one reading that are remembered.
const VALUES_MAX: usize = 20_000;

/// Values that were read and used later.
#[derive(Debug, Default)]
pub(super) struct Readings {
    /// The names of the acts whose output is saved, by their index.
    pub(super) saved: BTreeMap<usize, String>,
    /// The paths of values, by the index of the act that uses them, and the value.
    pub(super) uses: BTreeMap<(usize, String), String>,
}

impl Readings {
    /// The path of what an act used: `list.rows.2.0`.
    pub(super) fn path(&self, act: usize, value: &str) -> Option<&str> {
        self.uses.get(&(act, value.trim().to_owned())).map(String::as_str)
    }
}

impl Readings {
    /// Returns the number of rows of the table at a path: `read1.rows`.
    pub(super) fn rows(&self, acts: &[ObservedCall], path: &str) -> Option<usize> {
        let values = self.values(acts)?;
        values.at(path).ok()?.as_array().map(Vec::len)
    }

    /// The last cell of the table at a path, if it began at A1: C5.
    pub(super) fn corner(&self, acts: &[ObservedCall], path: &str) -> Option<String> {
        let values = self.values(acts)?;
        let corner = values.at(&format!("{path}.corner")).ok()?;
        corner.as_str().map(str::to_owned)
    }

    /// Returns the values that were read, by the names under which they are saved.
    fn values(&self, acts: &[ObservedCall]) -> Option<Values> {
        let mut values = Values::default();
        for (act, name) in &self.saved {
            values.save(name, acts.get(*act)?.result.output.clone());
        }
        Some(values)
    }
}

/// Finds the values that acts took from what was read before. What the user's request says is the user's.
pub(super) fn find(acts: &[ObservedCall], request: &str) -> Readings {
    let mut known: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut readings = Readings::default();
    let mut used = BTreeSet::new();
    let mut uses = Vec::new();
    for (index, act) in acts.iter().enumerate() {
        if !act.result.is_success() {
            continue;
        }
        let mut texts = BTreeSet::new();
        for value in act.command.arguments.values() {
            lists_in(value, &mut texts);
            texts_in(value, &mut texts);
        }
        for text in texts {
            let is_said = request.to_lowercase().contains(&text.to_lowercase());
            if let Some((source, path)) = known.get(&text).filter(|_| !is_said) {
                used.insert(*source);
                uses.push((index, text, *source, path.clone()));
            }
        }
        if !act.command.intent.does.acts() {
            let mut left = VALUES_MAX;
            values_in(&act.result.output, String::new(), &mut left, &mut |text, path| {
                known.insert(text, (index, path));
            });
        }
    }
    for (number, source) in (1..).zip(used) {
        readings.saved.insert(source, format!("read{number}"));
    }
    for (index, text, source, path) in uses {
        if let Some(name) = readings.saved.get(&source) {
            readings.uses.insert((index, text), format!("{name}{path}"));
        }
    }
    readings
}

/// The lists of an argument, as texts.
fn lists_in(value: &Value, into: &mut BTreeSet<String>) {
    if let Value::Array(values) = value {
        into.insert(value.to_string());
        values.iter().for_each(|value| lists_in(value, into));
    }
}

/// The texts of an argument.
fn texts_in(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            into.insert(text.trim().to_owned());
        }
        Value::Number(number) => {
            into.insert(number.to_string());
        }
        Value::Array(values) => values.iter().for_each(|value| texts_in(value, into)),
        Value::Object(fields) => fields.values().for_each(|value| texts_in(value, into)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// The texts and numbers of an output, each with its path: `.rows.2.0`.
fn values_in(value: &Value, path: String, left: &mut usize, found: &mut dyn FnMut(String, String)) {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(values) => {
            // A whole table that is entered elsewhere is read again as a whole.
            found(value.to_string(), path.clone());
            for (index, value) in values.iter().enumerate() {
                values_in(value, format!("{path}.{index}"), left, found);
            }
            return;
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                // A name with a dot cannot stand in a path.
                if !name.contains(['.', '{', '}']) {
                    values_in(value, format!("{path}.{name}"), left, found);
                }
            }
            return;
        }
        Value::Null | Value::Bool(_) => return,
    };
    if text.chars().count() >= CHARS_MIN && *left > 0 {
        *left -= 1;
        found(text, path);
    }
}
