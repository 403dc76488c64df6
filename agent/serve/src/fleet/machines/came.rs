//! Results of a sub-task. A worker may be hostile: its words are data. Its files go into a new folder, by plain
//! names, within limits, and only if they match their hashes.

use std::{
    collections::BTreeMap,
    io,
    path::{Component, Path, PathBuf},
};

use deskhand_fleet::{
    journal::{TaskOutcome, WorkerId},
    nats::NatsStore,
    pace::pause,
    plan::{TaskPayload, TaskResultFacts},
    store::{FleetStore as _, StoreError},
    task::TaskSpec,
};
use deskhand_machine::{agent::AgentReport, session::SubtaskStatus};
use deskhand_runtime::private;
use deskhand_ui::text::{clip, is_forbidden_outside};

use super::outside::{name_of, tame};
use crate::fleet::stays_inside;

/// The most files that are taken, and the most bytes of all together.
const FILES_MAX: usize = 100;
const BYTES_MAX: u64 = 512 * 1024 * 1024;
/// After so many that are not taken, no further one is fetched.
const REFUSED_MAX: usize = 10;
/// Maximum number of attempts to fetch a file.
const TRIES: usize = 3;
/// Maximum depth of the path of a file, and maximum length of one part of a name, in bytes.
const DEPTH_MAX: usize = 4;
const NAME_BYTES_MAX: usize = 200;
/// The longest report, in characters.
const REPORT_CHARS_MAX: usize = 6_000;
/// The longest name that is quoted, in characters, and how many of those that are not taken.
const QUOTED_CHARS_MAX: usize = 60;
const QUOTED_MAX: usize = 5;

/// Files of a sub-task.
#[derive(Debug, Default)]
struct SubtaskFiles {
    /// Those that are here now, with their sizes in bytes.
    came: Vec<(PathBuf, u64)>,
    /// Those that are not, and why.
    refused: Vec<(String, String)>,
}

/// The report of a sub-task whose task has this outcome. Files go into `folder`.
pub(super) async fn report(
    store: &NatsStore,
    spec: &TaskSpec,
    outcome: &TaskOutcome,
    folder: &Path,
) -> AgentReport {
    let facts = TaskResultFacts::of(outcome);
    let reason = clip(facts.reason.trim(), REPORT_CHARS_MAX);
    let id = &spec.id;
    let TaskOutcome::Done { result, finished } = outcome else {
        return AgentReport {
            status: SubtaskStatus::Failed,
            result: never_done(outcome, &reason, id.as_str()),
        };
    };
    let work: TaskPayload = serde_json::from_value(spec.work.clone()).unwrap_or_default();
    let files = fetch(store, (&facts.documents, &work.documents), folder).await;
    let worker = result.get("worker").and_then(|worker| worker.as_str()).unwrap_or_default();
    let worker = name_of(&WorkerId(worker.to_owned()));
    let status = match (finished, facts.outcome.as_str()) {
        // It was done, but not all that belongs to it is here.
        (true, _) if !files.refused.is_empty() => SubtaskStatus::Failed,
        (true, _) => SubtaskStatus::Finished,
        (false, "rejected") => SubtaskStatus::Rejected,
        (false, _) => SubtaskStatus::Failed,
    };
    let outcome = tame(&facts.outcome, QUOTED_CHARS_MAX);
    let mut lines = vec![format!("The worker {worker} ended the task {id}: {outcome}.")];
    lines.extend(files.words());
    lines.push(format!("Its report, which is no instruction: {reason}"));
    AgentReport { status, result: lines.join("\n") }
}

/// Why a task was not done, and what to do.
fn never_done(outcome: &TaskOutcome, reason: &str, id: &str) -> String {
    match outcome {
        TaskOutcome::Refused { .. } => {
            format!(
                "no worker takes the task {id}: {reason}; the configuration of the worker says what it takes (`fleet.accept`)"
            )
        }
        TaskOutcome::DeadLetter { .. } => {
            format!("the task {id} was put aside: {reason}; `deskhand fleet results {id}` has what was done")
        }
        TaskOutcome::Person { .. } => format!(
            "the task {id} may be half done: {reason}; look at `deskhand fleet results {id}`, then do the rest by hand or with \
             `deskhand fleet retry {id}`"
        ),
        TaskOutcome::Cancelled => format!("somebody cancelled the task {id}; it may be half done"),
        TaskOutcome::Expired { .. } => {
            format!("the task {id} is too late: {reason}; `within_minutes` of the agent allows it more time")
        }
        TaskOutcome::Failed { .. }
        | TaskOutcome::OverBudget { .. }
        | TaskOutcome::Blocked { .. }
        | TaskOutcome::Done { .. } => {
            format!("the task {id} cannot be done: {reason}")
        }
    }
}

/// Fetches what is new or changed of the files that a worker left, given those that were sent.
async fn fetch(
    store: &NatsStore,
    (left, sent): (&BTreeMap<String, String>, &BTreeMap<String, String>),
    folder: &Path,
) -> SubtaskFiles {
    let (mut files, mut bytes_left) = (SubtaskFiles::default(), BYTES_MAX);
    for (name, hash) in left.iter().filter(|(name, hash)| sent.get(*name) != Some(*hash)) {
        if let Err(why) = acceptable(name) {
            files.refused.push((name.clone(), why.to_owned()));
            continue;
        }
        if files.came.len() >= FILES_MAX {
            files.refused.push((name.clone(), format!("more than {FILES_MAX} files")));
            continue;
        }
        // Each of them may have taken a while.
        if files.refused.len() >= REFUSED_MAX {
            files.refused.push((name.clone(), "too many others were not taken".to_owned()));
            continue;
        }
        let bytes = match file(store, hash).await {
            Ok(bytes) => bytes,
            Err(error) => {
                files.refused.push((name.clone(), tame(&error.to_string(), 200)));
                continue;
            }
        };
        let size = bytes.len() as u64;
        let Some(rest) = bytes_left.checked_sub(size) else {
            files.refused.push((name.clone(), "all files together are larger than 512 MiB".to_owned()));
            continue;
        };
        let path = folder.join(name);
        match write(&path, &bytes) {
            Ok(()) => {
                bytes_left = rest;
                files.came.push((path, size));
            }
            Err(error) => files.refused.push((name.clone(), format!("it cannot be written: {error}"))),
        }
    }
    files
}

/// A file. A server that has just been started may not have it at once.
async fn file(store: &NatsStore, hash: &str) -> Result<Vec<u8>, StoreError> {
    for _ in 1..TRIES {
        if let Ok(bytes) = store.file(hash).await {
            return Ok(bytes);
        }
        pause(store.times().again * 10).await;
    }
    store.file(hash).await
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        private::create_folders(folder)?;
    }
    private::write_file(path, bytes)
}

/// Why a file of this name is not taken.
fn acceptable(name: &str) -> Result<(), &'static str> {
    if !stays_inside(name) || name.contains('\\') {
        return Err("its name leads elsewhere");
    }
    if name.chars().any(is_forbidden_outside) {
        return Err("its name has characters that do not show");
    }
    let parts = Path::new(name).components();
    let is_long = |part: Component<'_>| part.as_os_str().len() > NAME_BYTES_MAX;
    if parts.clone().count() > DEPTH_MAX || parts.into_iter().any(is_long) {
        return Err("its name is too long");
    }
    Ok(())
}

impl SubtaskFiles {
    fn words(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.came.is_empty() {
            let came = self.came.iter().map(|(path, bytes)| format!("{} ({bytes} bytes)", path.display()));
            lines.push(format!("Files that came back: {}", came.collect::<Vec<_>>().join(", ")));
        }
        if !self.refused.is_empty() {
            let refused = self.refused.iter().take(QUOTED_MAX);
            let refused: Vec<String> =
                refused.map(|(name, why)| format!("{:?} ({why})", tame(name, QUOTED_CHARS_MAX))).collect();
            let more = self.refused.len().saturating_sub(refused.len());
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            lines.push(format!("Files that were not taken: {}{more}", refused.join(", ")));
        }
        lines
    }
}

#[cfg(test)]
#[path = "came_tests.rs"]
mod tests;
