//! Files that are written and moved, and read back.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use deskhand_machine::command::{CallResult, CallStatus};
use deskhand_ui::action::{CallReport, Verdict};
use serde_json::json;
use tempfile::NamedTempFile;

use super::FileCallArgs;

/// The longest text that is written, in bytes.
const TEXT_MAX: usize = 4 << 20;

/// The result of a change.
enum FileChangeOutcome {
    /// The change was made: a sentence, and the content that was read back.
    Done(String, String),
    /// Nothing was done.
    Refused(String),
    /// The change may be half done.
    Failed(String),
}

/// Writes a file: whole or not at all.
pub(super) async fn write(given: &FileCallArgs<'_>) -> CallResult {
    let (Some(path), Some(text)) = (given.path("path"), given.text("text")) else {
        return given.refused("`path` and `text` are needed".to_owned());
    };
    if text.len() > TEXT_MAX {
        return given.refused(format!("the text has {} bytes; the limit is {TEXT_MAX}", text.len()));
    }
    let (text, overwrite, append) = (text.to_owned(), given.flag("overwrite"), given.flag("append"));
    changed(given, move || write_now(&path, &text, overwrite, append)).await
}

/// Moves a file or folder.
pub(super) async fn rename(given: &FileCallArgs<'_>) -> CallResult {
    let (Some(from), Some(to)) = (given.path("path"), given.path("to")) else {
        return given.refused("`path` and `to` are needed".to_owned());
    };
    let overwrite = given.flag("overwrite");
    changed(given, move || rename_now(&from, &to, overwrite)).await
}

async fn changed(
    given: &FileCallArgs<'_>,
    work: impl FnOnce() -> FileChangeOutcome + Send + 'static,
) -> CallResult {
    match tokio::task::spawn_blocking(work).await {
        Ok(FileChangeOutcome::Done(did, read_back)) => CallResult {
            status: CallStatus::Success,
            effect: Some(Verdict::Seen),
            report: CallReport::Native { did, read_back: Some(read_back.clone()) },
            output: json!({"is": read_back}),
            ..CallResult::failure(None, "")
        },
        Ok(FileChangeOutcome::Refused(why)) => given.refused(why),
        Ok(FileChangeOutcome::Failed(why)) => given.failed(why),
        Err(error) => given.failed(format!("failed to change the file: {error}")),
    }
}

fn write_now(path: &Path, text: &str, overwrite: bool, append: bool) -> FileChangeOutcome {
    let before = match fs::symlink_metadata(path) {
        Ok(data) if data.is_file() => Some(path),
        Ok(_) => return FileChangeOutcome::Refused(format!("{} is no plain file", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            return FileChangeOutcome::Refused(format!("{} cannot be looked at: {error}", path.display()));
        }
    };
    let whole = match (before, append, overwrite) {
        (Some(path), true, _) => match fs::read(path) {
            Ok(bytes) => [bytes, text.as_bytes().to_vec()].concat(),
            Err(error) => {
                return FileChangeOutcome::Refused(format!("{} cannot be read: {error}", path.display()));
            }
        },
        (Some(path), false, false) => {
            let why = format!("{} exists; give `overwrite` or `append`, or another name", path.display());
            return FileChangeOutcome::Refused(why);
        }
        (Some(_), false, true) | (None, _, _) => text.as_bytes().to_vec(),
    };
    if let Err(error) = put(path, &whole) {
        return FileChangeOutcome::Refused(format!("{} cannot be written: {error}", path.display()));
    }
    match fs::read(path) {
        Ok(found) if found == whole => FileChangeOutcome::Done(
            format!("wrote {}", path.display()),
            format!("{} has the {} bytes as written", path.display(), found.len()),
        ),
        Ok(found) => FileChangeOutcome::Failed(format!(
            "{} has {} bytes and not what was written",
            path.display(),
            found.len()
        )),
        Err(error) => FileChangeOutcome::Failed(format!("{} cannot be read back: {error}", path.display())),
    }
}

/// Puts a file in its place at once, with the permissions of the one that it replaces.
fn put(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut file = NamedTempFile::new_in(folder)?;
    io::Write::write_all(&mut file, content)?;
    let permissions = match fs::metadata(path) {
        Ok(data) => Some(data.permissions()),
        Err(_) => usual_permissions(folder),
    };
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// The permissions of a file that this process makes in the usual way.
fn usual_permissions(folder: &Path) -> Option<fs::Permissions> {
    let name = folder.join(format!(".deskhand-{}", uuid::Uuid::now_v7().simple()));
    let made = fs::File::create_new(&name).and_then(|file| file.metadata());
    if made.is_ok() {
        fs::remove_file(&name).ok()?;
    }
    made.ok().map(|data| data.permissions())
}

fn rename_now(from: &Path, to: &Path, overwrite: bool) -> FileChangeOutcome {
    let Ok(before) = fs::symlink_metadata(from) else {
        return FileChangeOutcome::Refused(format!("{} does not exist", from.display()));
    };
    let target: PathBuf = match (to.is_dir(), from.file_name()) {
        (true, Some(name)) => to.join(name),
        (_, _) => to.to_owned(),
    };
    if fs::symlink_metadata(&target).is_ok() && !(overwrite && target.is_file() && before.is_file()) {
        return FileChangeOutcome::Refused(format!(
            "{} exists; give `overwrite` for a file, or another name",
            target.display()
        ));
    }
    if let Err(error) = fs::rename(from, &target) {
        let hint = if error.kind() == io::ErrorKind::CrossesDevices {
            "; it is on another file system, where it has to be copied by a program"
        } else {
            ""
        };
        return FileChangeOutcome::Refused(format!("{} cannot be moved: {error}{hint}", from.display()));
    }
    let is_there = fs::symlink_metadata(&target).is_ok_and(|now| now.len() == before.len());
    let is_gone = fs::symlink_metadata(from).is_err();
    if is_there && is_gone {
        let did = format!("moved {} to {}", from.display(), target.display());
        FileChangeOutcome::Done(did, format!("{} is there and {} is not", target.display(), from.display()))
    } else {
        FileChangeOutcome::Failed(format!("{} is not where it was moved to", target.display()))
    }
}
