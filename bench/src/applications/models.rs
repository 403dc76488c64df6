//! The model that reads what applications only draw, and the program that computes with it: there in every home.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use xtask::{
    product::{self, Build},
    workspace,
};

/// Where models and the program are in the folder for the data of a user.
const MODELS: &str = "deskhand/local";
const PROGRAMS: &str = "deskhand/programs";

/// Pulls the model and builds the program, unless they are there, and returns the folder for the data of a user with both.
pub(super) fn pull(binary: &Path, build: Build) -> Result<PathBuf> {
    let data = workspace::root().join("target/applications");
    let pull = ["model", "pull", "ocr"];
    let status = Command::new(binary).args(pull).env("XDG_DATA_HOME", &data).status();
    ensure!(
        status.context("pull the model that reads pictures")?.success(),
        "`deskhand {}` failed",
        pull.join(" ")
    );
    let program = product::built_program("deskhand-local", build)?;
    let folder = data.join(PROGRAMS);
    fs::create_dir_all(&folder).context("make the folder of the program")?;
    fs::copy(&program, folder.join("deskhand-local")).context("copy the program")?;
    Ok(data)
}

/// The home of a user with this data.
pub(super) fn home(data: Option<&Path>) -> Result<TempDir> {
    let home = tempfile::tempdir().context("make a home folder")?;
    for (data, part) in data.into_iter().flat_map(|data| [MODELS, PROGRAMS].map(|part| (data, part))) {
        let place = home.path().join(".local/share").join(part);
        let above = place.parent().context("find the folder of the data")?;
        fs::create_dir_all(above).context("make the folder of the data")?;
        symlink(data.join(part), &place).context("put the data there")?;
    }
    Ok(home)
}
