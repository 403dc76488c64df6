//! The task of a sub-task: what its worker reads, and the documents that go along.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use deskhand_fleet::{
    nats::FILE_BYTES_MAX,
    plan::{TaskPayload, plain, value, with_note},
    task::{OnLoss, TaskId, TaskRequirements, TaskSpec},
};
use deskhand_host::config::{MachineAgentSettings, OnLossSetting};
use deskhand_runtime::agents::Assignment;
use deskhand_ui::text::clip;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::error::MachineError;
use crate::fleet::admission::is_plain;

/// The longest text of the user or of the blackboard that goes along, in characters.
const CONTEXT_CHARS_MAX: usize = 4_000;
/// The most files of earlier sub-tasks that are looked at.
const FILES_MAX: usize = 1_000;

/// A document that goes along.
pub(super) struct HandoverDocument {
    pub(super) bytes: Vec<u8>,
    hash: String,
}

/// The work and the documents to hand over.
pub(super) struct TaskHandover {
    pub(super) work: TaskPayload,
    /// By their names there.
    pub(super) documents: BTreeMap<String, HandoverDocument>,
}

/// The task of a sub-task, before anything is known of that.
pub(super) fn task_of(id: TaskId, settings: &MachineAgentSettings) -> TaskSpec {
    let needs = settings.needs.clone();
    TaskSpec {
        needs: TaskRequirements {
            applications: needs.applications,
            agents: needs.agents,
            labels: needs.labels,
            desktop: None,
        },
        labels: settings.labels.clone(),
        on_loss: match settings.on_loss {
            OnLossSetting::Resume => OnLoss::Resume,
            OnLossSetting::Afresh => OnLoss::Afresh,
            OnLossSetting::Person => OnLoss::Person,
        },
        work: serde_json::json!({ "task": { "request": "" } }),
        ..TaskSpec::new(id)
    }
}

/// The work of a sub-task with these documents.
pub(super) fn compose(
    id: &TaskId,
    assignment: &Assignment,
    documents: &BTreeMap<String, PathBuf>,
) -> Result<TaskHandover, MachineError> {
    let mut read = BTreeMap::new();
    let mut left = FILE_BYTES_MAX;
    for (name, path) in documents {
        let refused = |problem: String| MachineError::Document { path: path.clone(), problem };
        let bytes = fs::read(path).map_err(|error| refused(error.to_string()))?;
        left = left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| refused("the documents of one sub-task are larger than 256 MiB".to_owned()))?;
        let hash = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        read.insert(name.clone(), HandoverDocument { bytes, hash });
    }
    let open: Vec<&String> = read.keys().collect();
    let work = TaskPayload {
        task: json!({ "id": id.as_str(), "request": request(assignment), "open": open }),
        documents: read.iter().map(|(name, document)| (name.clone(), document.hash.clone())).collect(),
        names_folder: true,
        ..TaskPayload::default()
    };
    Ok(TaskHandover { work, documents: read })
}

/// Renders the request to the remote HostAgent: the sub-task in our HostAgent's words, and everything else as
/// data.
fn request(assignment: &Assignment) -> String {
    let Assignment { subtask, message, request, context, .. } = assignment;
    let mut text = plain(subtask);
    for line in message {
        text.push('\n');
        text.push_str(&plain(line));
    }
    let values = (!request.trim().is_empty())
        .then_some(("It is one part of this request; others do the rest: ", request));
    let context = context.iter().map(|one| ("What is known of it: ", one));
    let mut has_values = false;
    for (what, one) in values.into_iter().chain(context) {
        has_values = true;
        text.push_str(&format!("\n\n{what}{}", value(&clip(one, CONTEXT_CHARS_MAX))));
    }
    if has_values { with_note(&text) } else { text }
}

/// The documents that a sub-task names, by their names: of those that the session was begun with, has saved, or got back.
pub(super) fn named(
    assignment: &Assignment,
    begun_with: &[PathBuf],
    results: &Path,
) -> Result<BTreeMap<String, PathBuf>, MachineError> {
    let text = std::iter::once(&assignment.subtask).chain(&assignment.message);
    let text: String = text.map(|line| format!("{line}\n")).collect();
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let came = came_back(&assignment.number, results);
    for path in begun_with.iter().chain(&assignment.saved).chain(&came).filter(|path| path.is_file()) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let paths = found.entry(name.to_owned()).or_default();
        if is_plain(name) && names(&text, name) && !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    let mut all = BTreeMap::new();
    for (name, mut paths) in found {
        if paths.len() > 1 {
            paths.retain(|path| path.to_str().is_some_and(|path| names(&text, path)));
            if paths.len() != 1 {
                return Err(MachineError::SameName { name });
            }
        }
        all.extend(paths.into_iter().map(|path| (name.clone(), path)));
    }
    Ok(all)
}

/// Returns `true` if a text has a name that is not a part of a longer one.
fn names(text: &str, name: &str) -> bool {
    let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '-' && c != '_');
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text.get(..at), text.get(at + name.len()..));
        // `a.txt` is no name in `a.txt.gpg`, but one at the end of a sentence.
        let goes_on = |after: &str| {
            let mut after = after.chars();
            match after.next() {
                Some('.') => !ends(after.next()),
                next => !ends(next),
            }
        };
        let begins = before.and_then(|before| before.chars().next_back());
        ends(begins) && begins != Some('.') && !after.is_some_and(goes_on)
    })
}

/// The files that earlier sub-tasks of the session brought.
fn came_back(number: &str, results: &Path) -> Vec<PathBuf> {
    let session = number.rsplit_once('-').map_or(number, |(session, _)| session);
    let folders = fs::read_dir(results).into_iter().flatten().filter_map(Result::ok);
    let own = folders.filter(|folder| {
        let name = folder.file_name().to_string_lossy().into_owned();
        name.rsplit_once('-').is_some_and(|(before, _)| before == session)
    });
    let files =
        own.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().filter_map(Result::ok));
    files.map(|file| file.path()).take(FILES_MAX).collect()
}

#[cfg(test)]
#[path = "compose_tests.rs"]
mod tests;
