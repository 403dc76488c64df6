//! The Python environment of local models: pip, which gets wheels, and the server for machines without `llama-server`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use deskhand_process::find_program;
use tokio::process::Command;

use super::{
    LocalError,
    files::LocalModelFolder,
    room::{FolderProcessGuard, new_folder, search_path},
};

/// The package with the server.
const SERVER: &str = "xllamacpp==2026.10.11549";
/// The file in the environment that says that it is whole.
const WHOLE: &str = "deskhand-whole";
/// The file in the environment that says which server it has.
const HAS_SERVER: &str = "deskhand-server";
/// The lock of the environment. No model has a name like it.
const LOCK: &str = "+python";

/// Arguments of every pip command: no prompts, and no builds, so that no code of a package is run.
const CAREFULLY: [&str; 6] =
    ["--quiet", "--no-input", "--disable-pip-version-check", "--no-color", "--only-binary", ":all:"];

/// The Python of the environment, if it is whole and has the server.
pub(super) fn with_server(files: &LocalModelFolder) -> Option<PathBuf> {
    let folder = files.python();
    let has = fs::read_to_string(folder.join(HAS_SERVER)).is_ok_and(|has| has == SERVER);
    Some(folder.join("bin/python")).filter(|python| has && python.is_file())
}

/// Installs the server for Python into the environment.
///
/// # Errors
/// There is no Python, the environment cannot be made, or pip fails.
pub(super) async fn install_server(
    files: &LocalModelFolder,
    mut waits: impl FnMut() + Send,
) -> Result<(), LocalError> {
    let _lock = files.lock_in_turn(LOCK, &mut waits).await?;
    if with_server(files).is_some() {
        return Ok(());
    }
    let python = environment(files).await?;
    let mut command = Command::new(&python);
    command.args(["-m", "pip", "install"]).args(CAREFULLY).arg(SERVER);
    run(&mut command, &format!("install {SERVER}")).await?;
    let note = files.python().join(HAS_SERVER);
    fs::write(&note, SERVER).map_err(LocalError::file("write", &note))
}

/// Downloads the wheel of a package into a folder.
///
/// # Errors
/// There is no Python, the environment cannot be made, or pip fails.
pub(super) async fn download(
    files: &LocalModelFolder,
    package: &str,
    folder: &Path,
    mut waits: impl FnMut() + Send,
) -> Result<(), LocalError> {
    let python = {
        let _lock = files.lock_in_turn(LOCK, &mut waits).await?;
        environment(files).await?
    };
    let mut command = Command::new(&python);
    command.args(["-m", "pip", "download", "--no-deps", "--dest"]).arg(folder).args(CAREFULLY).arg(package);
    run(&mut command, &format!("download the wheel of {package}")).await
}

/// The Python of the environment, which is made if there is none or it is not whole. The lock is held.
async fn environment(files: &LocalModelFolder) -> Result<PathBuf, LocalError> {
    let folder = files.python();
    let (python, whole) = (folder.join("bin/python"), folder.join(WHOLE));
    if python.is_file() && whole.is_file() {
        return Ok(python);
    }
    let system = find_program("python3", &search_path(), Path::new("")).ok_or(LocalError::NoPython)?;
    let mut command = Command::new(system);
    command.args(["-m", "venv", "--clear"]).arg(&folder);
    run(&mut command, &format!("make a Python environment in {}", folder.display())).await?;
    fs::write(&whole, "").map_err(LocalError::file("write", &whole))?;
    Ok(python)
}

/// Runs a program to its end. It ends with this process.
async fn run(command: &mut Command, operation: &str) -> Result<(), LocalError> {
    let failed = |said: String| LocalError::Python { operation: operation.to_owned(), said };
    let wrong = |error: io::Error| failed(error.to_string());
    let folder = new_folder().map_err(wrong)?;
    let room = FolderProcessGuard::new(folder.path()).map_err(wrong)?;
    let mut child = room.spawn(command.env("TMPDIR", folder.path())).map_err(wrong)?;
    let status = child.wait().await.map_err(wrong)?;
    let said = room.said();
    room.end().await;
    if status.success() { Ok(()) } else { Err(failed(said)) }
}
