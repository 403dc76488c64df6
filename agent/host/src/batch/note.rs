//! Notes of batches: what was begun where, so that others can watch a batch and stop it.
//!
//! A note is one file in the folder of notes. Who runs the batch holds a lock on it, so it runs exactly as long as that process. What
//! became of its tasks stands in the results folder and in the sessions, and nowhere else.

use std::{
    collections::BTreeMap,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use deskhand_runtime::{new_id, now_ms, private};
use deskhand_ui::ids::SessionId;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use super::{BatchError, TaskResult};

/// The version of the format that this code writes.
const FORMAT: u32 = 1;
/// The most notes that are kept: those of the last batches.
const NOTES_MAX: usize = 300;
/// The largest note that is read, in bytes.
const BYTES_MAX: u64 = 64 << 20;

/// The note of a batch that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchNote {
    /// The version of the format.
    pub format: u32,
    /// When it began, in milliseconds since 1970.
    pub begun_ms: u64,
    /// The process that runs it.
    process: i32,
    /// The file or folder of its tasks.
    pub source: PathBuf,
    /// Its results folder.
    pub results: PathBuf,
    /// Number of tasks that run at once.
    pub parallel: usize,
    /// Its tasks, in order.
    pub tasks: Vec<NotedTask>,
}

/// A task of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedTask {
    /// Its id.
    pub id: String,
    /// Its request.
    pub request: String,
    /// The session that it runs in, once it begins; `None` for a task that has the result of an earlier run.
    pub session: Option<String>,
}

/// A batch that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Its id.
    pub id: String,
    /// The note of its start.
    pub note: BatchNote,
    /// `true` if it is running.
    pub is_running: bool,
    file: PathBuf,
}

/// The batches that were begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batches {
    folder: PathBuf,
}

/// Held while a batch runs.
#[derive(Debug)]
pub(super) struct HeldNote {
    _file: File,
}

impl BatchNote {
    pub(super) fn new(source: &Path, results: &Path, parallel: usize, tasks: Vec<NotedTask>) -> Self {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self {
            format: FORMAT,
            begun_ms: now_ms(),
            process: i32::try_from(std::process::id()).unwrap_or_default(),
            source: absolute(source),
            results: absolute(results),
            parallel: parallel.max(1),
            tasks,
        }
    }

    /// The results of its tasks so far, by the ids of the tasks. A file that is no result of this run is left out. Blocking.
    pub fn results(&self) -> BTreeMap<String, TaskResult> {
        let results = self.tasks.iter().filter_map(|task| Some((task.id.clone(), self.result(task)?)));
        results.collect()
    }

    fn result(&self, task: &NotedTask) -> Option<TaskResult> {
        let path = self.results.join(format!("{}.json", task.id));
        let result: TaskResult = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        let is_of_this_run = match (&task.session, &result.session_id) {
            (None, _) => true,
            (Some(session), Some(of)) => session == of,
            // It did not come to a session. The result of an earlier run is older.
            (Some(_), None) => {
                let begun = SystemTime::UNIX_EPOCH + Duration::from_millis(self.begun_ms);
                fs::metadata(&path).and_then(|file| file.modified()).is_ok_and(|written| written >= begun)
            }
        };
        is_of_this_run.then_some(result)
    }
}

impl Batches {
    /// The batches of this folder, which need not exist.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The file of a batch, which is there once the batch has begun.
    pub fn file(&self, id: &SessionId) -> PathBuf {
        self.folder.join(format!("{}.json", id.0))
    }

    /// All of them, the newest first. Files that are no notes are left out. Blocking.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> io::Result<Vec<Batch>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut batches: Vec<Batch> = entries.filter_map(|entry| read(&entry.ok()?.path())).collect();
        batches.sort_by(|one, other| other.id.cmp(&one.id));
        Ok(batches)
    }

    /// One of them. Blocking.
    pub fn find(&self, id: &str) -> Option<Batch> {
        let is_id = !id.is_empty() && id.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        is_id.then(|| read(&self.folder.join(format!("{id}.json")))).flatten()
    }

    /// Writes the note of a batch that begins. The note of an earlier run with the same results is removed, and so are those of the
    /// oldest batches if there are many.
    pub(super) fn hold(&self, id: Option<&SessionId>, note: &BatchNote) -> Result<HeldNote, BatchError> {
        let id = id.cloned().unwrap_or_else(new_id);
        let path = self.file(&id);
        let write = || {
            private::create_folders(&self.folder)?;
            let part = self.folder.join(format!(".{}.part", id.0));
            private::write_file(&part, &serde_json::to_vec(note)?)?;
            let file = File::open(&part)?;
            // It is locked before anybody can see it.
            file.try_lock()?;
            self.make_room(&id.0, note);
            fs::rename(&part, &path)?;
            Ok(HeldNote { _file: file })
        };
        write().map_err(|source| BatchError::Write { path: path.clone(), source })
    }

    /// Removes the notes that the note of batch `id` replaces. They go before it comes, so that whoever sees it sees no note of an
    /// earlier run beside it.
    fn make_room(&self, id: &str, note: &BatchNote) {
        let others = self.list().unwrap_or_default();
        for (number, other) in others.iter().filter(|other| other.id != id).enumerate() {
            if other.note.results == note.results || number >= NOTES_MAX {
                other.remove().ok();
            }
        }
    }
}

impl Batch {
    /// Asks its process to end it: what runs is cancelled, and nothing more begins. Returns whether it runs.
    ///
    /// # Errors
    /// The process cannot be asked.
    pub fn stop(&self) -> io::Result<bool> {
        let Some(process) = Pid::from_raw(self.note.process) else { return Ok(false) };
        let process = match pidfd_open(process, PidfdFlags::empty()) {
            Ok(process) => process,
            Err(rustix::io::Errno::SRCH) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        // Looked at after the process was opened: while the note is locked, that is the process which locked it.
        if !is_locked(&self.file) {
            return Ok(false);
        }
        pidfd_send_signal(process, Signal::INT)?;
        Ok(true)
    }

    /// Removes its note if it does not run. Its results stay.
    ///
    /// # Errors
    /// It runs, or the note cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        if is_locked(&self.file) {
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, "the batch runs"));
        }
        fs::remove_file(&self.file)
    }
}

/// Returns `true` if somebody holds a note.
fn is_locked(path: &Path) -> bool {
    let locked = File::open(path).map(|file| file.try_lock_shared());
    matches!(locked, Ok(Err(TryLockError::WouldBlock)))
}

fn read(path: &Path) -> Option<Batch> {
    let id = path.file_name()?.to_str()?.strip_suffix(".json").filter(|id| !id.starts_with('.'))?.to_owned();
    if fs::metadata(path).ok()?.len() > BYTES_MAX {
        return None;
    }
    let note: BatchNote = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (note.format <= FORMAT).then(|| Batch { id, note, is_running: is_locked(path), file: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_whether_its_batch_runs_and_the_next_run_replaces_it() {
        let folder = tempfile::tempdir().unwrap();
        let batches = Batches::at(folder.path().join("batches"));
        assert_eq!(batches.list().unwrap(), []);
        let task =
            NotedTask { id: "one".to_owned(), request: "do it".to_owned(), session: Some("5".to_owned()) };
        let results = folder.path().join("results");
        let note = BatchNote::new(Path::new("tasks"), &results, 0, vec![task]);
        let held = batches.hold(Some(&SessionId("a1".to_owned())), &note).unwrap();
        let found = batches.find("a1").unwrap();
        assert!(found.is_running && found.note == note && found.note.parallel == 1, "{found:?}");
        assert!(found.remove().is_err(), "it runs");
        for id in ["../batches/a1", "", ".", "a2"] {
            assert_eq!(batches.find(id), None, "{id}");
        }
        drop(held);
        let found = batches.find("a1").unwrap();
        assert!(!found.is_running && !found.stop().unwrap());

        let _held = batches.hold(Some(&SessionId("a2".to_owned())), &note).unwrap();
        fs::write(folder.path().join("batches/x.json"), "{}").unwrap();
        let all: Vec<String> = batches.list().unwrap().into_iter().map(|batch| batch.id).collect();
        assert_eq!(all, ["a2"]);

        // The result of another session is one of an earlier run.
        fs::create_dir(&results).unwrap();
        let result = |session: &str| {
            let text = format!(
                "{{\"id\": \"one\", \"request\": \"do it\", \"outcome\": \"finished\", \"reason\": \"\", \"session_id\": {session}, \
                 \"session_path\": null, \"steps\": 1, \"calls\": 1, \"model_calls\": 1, \"prompt_tokens\": 1, \
                 \"completion_tokens\": 1, \"cost\": {}, \"elapsed_ms\": 5, \"exit_code\": 0}}",
                serde_json::to_string(&deskhand_machine::money::Cost::default()).unwrap()
            );
            fs::write(results.join("one.json"), text).unwrap();
            note.results().len()
        };
        assert_eq!((result("\"4\""), result("\"5\""), result("null")), (0, 1, 1));
        let old = File::options().write(true).open(results.join("one.json")).unwrap();
        old.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(note.results().len(), 0);
    }
}
