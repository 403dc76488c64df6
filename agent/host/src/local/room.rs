//! Programs that end with this process, also if it is killed.

use std::{
    env, fs,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    process::Stdio,
};

use deskhand_process::{Guard, PATH_DEFAULT, ProcessMark};
use deskhand_ui::text::collapse_whitespace;
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// The variable that marks the programs of a room.
const VARIABLE: &str = "DESKHAND_LOCAL_MODEL";
/// Size of the retained end of a program's output, in bytes, and the maximum number of lines that are shown.
const SAID_MAX: u64 = 4_096;
const LINES_MAX: usize = 3;

/// The programs that were started for a private folder. When this is dropped, they are killed and the folder is removed.
#[derive(Debug)]
pub(super) struct FolderProcessGuard {
    folder: PathBuf,
    guard: Guard,
}

/// A private folder for a [`FolderProcessGuard`].
///
/// # Errors
/// It cannot be made.
pub(super) fn new_folder() -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("deskhand-local-").tempdir()
}

impl FolderProcessGuard {
    /// Guards a folder, which no other room has.
    ///
    /// # Errors
    /// The guard cannot be started.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let guard = Guard::start(&ProcessMark::new(VARIABLE, folder), folder, "", &search_path())?;
        Ok(Self { folder: folder.to_owned(), guard })
    }

    /// Starts a program without input. What it says goes to [`FolderProcessGuard::said`].
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        let log = fs::File::options().create(true).append(true).open(self.log())?;
        command.env(VARIABLE, &self.folder).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        command.kill_on_drop(true).spawn()
    }

    /// The last lines that a program of this room said, as one.
    pub(super) fn said(&self) -> String {
        let end = || {
            let mut file = fs::File::open(self.log())?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(SAID_MAX)))?;
            let mut bytes = Vec::new();
            file.take(SAID_MAX).read_to_end(&mut bytes).map(|_| bytes)
        };
        let bytes: Vec<u8> = end().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<String> =
            text.lines().map(collapse_whitespace).filter(|line| !line.is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(LINES_MAX)..).unwrap_or_default().join("; ");
        if last.is_empty() { "it said nothing".to_owned() } else { last }
    }

    /// Kills the programs, and returns when they and the folder are gone.
    pub(super) async fn end(self) {
        self.guard.end().await;
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }
}

/// Returns the search path for programs.
pub(super) fn search_path() -> std::ffi::OsString {
    env::var_os("PATH").unwrap_or_else(|| PATH_DEFAULT.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn programs_end_with_their_room_and_their_last_lines_are_known() {
        let folder = new_folder().unwrap();
        let room = FolderProcessGuard::new(folder.path()).unwrap();
        let talks = "echo one; echo two >&2; echo; echo three; echo four";
        let mut first = room.spawn(Command::new("sh").args(["-c", talks])).unwrap();
        assert!(first.wait().await.unwrap().success());
        assert_eq!(room.said(), "two; three; four");
        let mut child = room.spawn(Command::new("sleep").arg("600")).unwrap();
        assert!(child.try_wait().unwrap().is_none());
        room.end().await;
        assert!(!child.wait().await.unwrap().success());
        assert!(!folder.path().exists());
    }
}
