//! Admission of tasks to a worker: who submitted the task, what it requests, and that it stays among its own
//! documents.

use std::collections::{BTreeMap, BTreeSet};

use deskhand_fleet::{
    plan::TaskPayload,
    signed::{KeyError, check_public},
    task::{MachineCapabilities, TaskSpec},
};
use deskhand_host::config::FleetSettings;
use deskhand_machine::provenance::Provenance;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{stays_inside, tasks::DOCUMENTS_MAX};

/// The longest name of a document, in bytes.
const NAME_BYTES_MAX: usize = 255;
/// A hash in hexadecimal digits.
const HASH_CHARS: usize = 64;

/// The rules by which a worker takes tasks. Workers know each other's rules, so that a task that none takes is
/// put aside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rules {
    /// The name of the fleet.
    pub(super) fleet: String,
    /// Public keys of who may submit tasks, with their names. Without any, everybody may.
    pub(super) accept: BTreeMap<String, String>,
    /// If there are any, only tasks with one of these.
    pub(super) labels: BTreeSet<String>,
    /// The most that a task may ask for, by the names of its limits.
    pub(super) limits: BTreeMap<String, u64>,
    /// The resources of the machine.
    pub(super) offer: MachineCapabilities,
}

/// A key in the configuration is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`fleet.accept.{name}` in the configuration: {source}; `deskhand fleet key` prints one")]
pub struct AcceptError {
    name: String,
    source: KeyError,
}

/// Why a task is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TaskRefusal {
    /// This worker does not take it; another one may.
    Here(String),
    /// The task is not the one submitted, or accesses data that is not its own.
    Everywhere(String),
}

impl Rules {
    /// The rules of a configuration.
    ///
    /// # Errors
    /// A key is none.
    pub(super) fn new(
        fleet: &str,
        settings: &FleetSettings,
        offer: MachineCapabilities,
    ) -> Result<Self, AcceptError> {
        let mut accept = BTreeMap::new();
        for (name, key) in &settings.accept {
            check_public(key).map_err(|source| AcceptError { name: name.clone(), source })?;
            accept.insert(key.clone(), name.clone());
        }
        let limits = [
            ("steps_max", settings.steps_max),
            ("model_calls_max", settings.model_calls_max),
            ("tokens_max", settings.tokens_max),
            ("minutes_max", settings.minutes_max),
        ];
        let limits = limits.into_iter().filter_map(|(name, most)| Some((name.to_owned(), most?))).collect();
        Ok(Self { fleet: fleet.to_owned(), accept, labels: settings.labels.clone(), limits, offer })
    }

    /// Judges a task by its fields, and by the signature of the one that it follows from: mostly itself.
    pub(super) fn judge(&self, spec: &TaskSpec, signed: &TaskSpec) -> Result<(), TaskRefusal> {
        self.signature(signed)?;
        let work: TaskPayload = serde_json::from_value(spec.work.clone())
            .map_err(|error| TaskRefusal::Everywhere(format!("its work cannot be read: {error}")))?;
        documents(&work).map_err(TaskRefusal::Everywhere)?;
        if !self.offer.has(&spec.needs) {
            return Err(TaskRefusal::Here("it needs something that this worker does not offer".to_owned()));
        }
        if !self.labels.is_empty() && self.labels.is_disjoint(&spec.labels) {
            let labels: Vec<&str> = self.labels.iter().map(String::as_str).collect();
            return Err(TaskRefusal::Here(format!("it has none of the labels {}", labels.join(", "))));
        }
        for (name, most) in &self.limits {
            let asked = work.task.get("limits").and_then(|limits| limits.get(name)).and_then(Value::as_u64);
            if let Some(asked) = asked.filter(|asked| asked > most) {
                return Err(TaskRefusal::Here(format!(
                    "`limits.{name}` is {asked}, and at most {most} is allowed"
                )));
            }
        }
        Ok(())
    }

    /// Who made a task that is taken, by the signature of the one that it follows from: somebody whose key this worker was told to accept, or
    /// a stranger.
    pub(super) fn provenance(&self, signed: &TaskSpec) -> Provenance {
        let is_known = signed.signed.as_ref().is_some_and(|one| self.accept.contains_key(&one.key));
        if is_known && self.signature(signed).is_ok() { Provenance::Trusted } else { Provenance::Stranger }
    }

    fn signature(&self, spec: &TaskSpec) -> Result<(), TaskRefusal> {
        let Some(signed) = &spec.signed else {
            let is_free = self.accept.is_empty();
            return if is_free { Ok(()) } else { Err(TaskRefusal::Here("it is not signed".to_owned())) };
        };
        if signed.fleet != self.fleet {
            let other = &signed.fleet;
            return Err(TaskRefusal::Everywhere(format!(
                "it was signed for the fleet {other:?}, which is another one"
            )));
        }
        if !spec.is_as_signed() {
            return Err(TaskRefusal::Everywhere("it is not what was signed: somebody changed it".to_owned()));
        }
        if self.accept.is_empty() || self.accept.contains_key(&signed.key) {
            return Ok(());
        }
        Err(TaskRefusal::Here(format!("the key {} that signed it is not in `fleet.accept`", signed.key)))
    }
}

/// Checks that a task names no file but its documents, and that these have plain names.
fn documents(work: &TaskPayload) -> Result<(), String> {
    if work.documents.len() > DOCUMENTS_MAX {
        return Err(format!("it has more than {DOCUMENTS_MAX} documents"));
    }
    for (name, hash) in &work.documents {
        if !is_plain(name) {
            return Err(format!("its document {name:?} has no plain name"));
        }
        if hash.len() != HASH_CHARS || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!("its document {name:?} has no hash"));
        }
    }
    for input in &work.inputs {
        if !is_plain(&input.name) {
            return Err(format!("its input {:?} has no plain name", input.name));
        }
    }
    for path in work.task.get("open").and_then(Value::as_array).into_iter().flatten() {
        let is_own = |path: &str| {
            work.documents.contains_key(path) || work.inputs.iter().any(|input| input.name == path)
        };
        if !path.as_str().is_some_and(is_own) {
            return Err(format!("it opens {path}, which is none of its documents"));
        }
    }
    // What it works on may be a window, too, but no file elsewhere.
    let object = work.task.get("object").and_then(Value::as_str);
    match object.filter(|object| !stays_inside(object)) {
        Some(object) => Err(format!("it works on {object:?}, which is none of its documents")),
        None => Ok(()),
    }
}

pub(super) fn is_plain(name: &str) -> bool {
    stays_inside(name) && !name.contains(['/', '\\', '\0']) && name.len() <= NAME_BYTES_MAX
}

#[cfg(test)]
#[path = "admission_tests.rs"]
mod tests;
