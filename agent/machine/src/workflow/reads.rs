//! Values that the steps of a workflow in progress have read, and the calls that carry them on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{file::WorkflowStep, values::before_value, values::names_in_value};
use crate::{
    command::{ActionCommandInfo, ToolCommand},
    intent::Does,
    known_tools::{READ_CLIPBOARD, RECALL},
    policy::{copies_by_name, fixed_host},
    provenance::{CarriedValue, Provenance, ReadAt},
};
use deskhand_ui::keys::{ChordKey, KeyChord, KeyModifier, NamedKey};

/// The name of what was copied.
const CLIPBOARD: &str = "the clipboard";

/// Values that the steps have read, by the names under which they are saved.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct WorkflowReads {
    named: BTreeMap<String, ReadAt>,
    /// Place from which the content of the clipboard was copied.
    copied: Option<ReadAt>,
}

impl WorkflowReads {
    /// Notes what a step has read or copied.
    pub(super) fn note(&mut self, label: &str, step: &WorkflowStep, info: &ActionCommandInfo) {
        let read = || read_at(label, &info.command);
        let judged = info.command.judged.as_deref().filter(|_| info.command.intent.does.activates());
        let by_name = judged.is_some_and(|judged| copies_by_name(&judged.names));
        if by_name || info.command.intent.chords().any(copies) {
            self.copied = Some(read());
        }
        if let Some(name) = &step.save {
            let copied = self.copied.clone().filter(|_| info.command.tool == READ_CLIPBOARD);
            self.named.insert(name.clone(), copied.unwrap_or_else(read));
        }
    }

    /// A row of a value that was read was read as well.
    pub(super) fn row(&mut self, of: &str, called: &str) {
        let first = of.split('.').next().unwrap_or_default().trim();
        if let Some(read) = self.named.get(first).cloned() {
            self.named.insert(called.to_owned(), read);
        }
    }

    /// Returns the values that the arguments of a step carry, as written.
    pub(super) fn carried(&self, step: &WorkflowStep, provenance: Provenance) -> Vec<CarriedValue> {
        let mut carried = Vec::new();
        for (argument, value) in &step.arguments {
            let names = names_in_value(value).unwrap_or_default();
            for (name, read) in names.iter().filter_map(|name| self.named.get_key_value(name)) {
                carried.push(CarriedValue {
                    argument: argument.clone(),
                    value: name.clone(),
                    read: read.clone(),
                    provenance,
                    fixed_host: self.fixed_host(value),
                });
            }
        }
        carried
    }

    /// Returns the value that a paste enters.
    pub(super) fn pasted(&self, provenance: Provenance) -> CarriedValue {
        CarriedValue {
            argument: String::new(),
            value: CLIPBOARD.to_owned(),
            read: self.copied.clone().unwrap_or_default(),
            provenance,
            fixed_host: None,
        }
    }

    /// The host that an argument writes before what was read: the same for all its texts that have it, else `None`.
    fn fixed_host(&self, value: &Value) -> Option<String> {
        let mut hosts = Vec::new();
        self.hosts_in(value, &mut hosts);
        let first = hosts.first().cloned().flatten()?;
        hosts.iter().all(|host| host.as_ref() == Some(&first)).then_some(first)
    }

    fn hosts_in(&self, value: &Value, into: &mut Vec<Option<String>>) {
        match value {
            Value::String(text) => {
                let before = before_value(text, &|name| self.named.contains_key(name));
                into.extend(before.map(|before| fixed_host(&before)));
            }
            Value::Array(values) => values.iter().for_each(|value| self.hosts_in(value, into)),
            Value::Object(fields) => fields.values().for_each(|value| self.hosts_in(value, into)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Returns the place that a command has read from. A command that reads files, the clipboard or other sources
/// belongs to no window, though an agent of one calls it.
fn read_at(label: &str, command: &ToolCommand) -> ReadAt {
    let is_elsewhere = command.intent.files().next().is_some()
        || command.intent.does == Does::Other
        || [READ_CLIPBOARD, RECALL].contains(&command.tool.as_str());
    let judged = command.judged.as_deref().filter(|_| !is_elsewhere);
    ReadAt {
        step: label.to_owned(),
        tool: command.tool.clone(),
        application: judged.map(|judged| judged.application_root.clone()).unwrap_or_default(),
        hosts: judged.map(|judged| judged.hosts.clone()).unwrap_or_default(),
    }
}

/// Returns `true` if a chord copies what is selected.
fn copies(chord: &KeyChord) -> bool {
    let is_control = chord.modifiers.contains(&KeyModifier::Ctrl);
    match chord.key {
        ChordKey::Char(letter) => is_control && matches!(letter.to_ascii_lowercase(), 'c' | 'x'),
        ChordKey::Named(NamedKey::Insert) => is_control,
        ChordKey::Named(NamedKey::Delete) => chord.modifiers.contains(&KeyModifier::Shift),
        ChordKey::Named(_) => false,
    }
}
