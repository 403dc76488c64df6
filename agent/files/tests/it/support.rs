//! Where the files are, and short ways to read them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use deskhand_files::{FileContent, FileReadError, ReadOptions, Tables, Text, read};
use tempfile::TempDir;

/// A file that is checked in; `make.sh` beside it makes it with LibreOffice.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A file that Python makes, once for all tests.
pub(crate) fn made(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("files");
        remove_old(&parent);
        let folder = parent.join(std::process::id().to_string());
        fs::create_dir_all(&folder).unwrap();
        let mut python = Command::new("python3");
        python.args(["-W", "ignore"]).arg(fixture("archives.py")).arg(&folder);
        assert!(python.status().expect("install python3").success());
        folder
    });
    folder.join(name)
}

/// Removes what test runs that are over have made.
fn remove_old(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !Path::new("/proc").join(entry.file_name()).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A new folder with one file.
pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    (folder, path)
}

pub(crate) fn text_of(path: &Path, options: &ReadOptions) -> Result<Text, FileReadError> {
    match read(path, options)? {
        FileContent::Text(text) => Ok(text),
        FileContent::Tables(tables) => panic!("tables instead of text: {tables:?}"),
    }
}

pub(crate) fn tables_of(path: &Path, options: &ReadOptions) -> Result<Tables, FileReadError> {
    match read(path, options)? {
        FileContent::Tables(tables) => Ok(tables),
        FileContent::Text(text) => panic!("text instead of tables: {text:?}"),
    }
}

/// The message as it is shown to people.
pub(crate) fn message<T: std::fmt::Debug>(result: Result<T, FileReadError>) -> String {
    result.unwrap_err().to_string()
}
