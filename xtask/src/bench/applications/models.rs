//! The model that reads what applications only draw: pulled once, as a user does, and there in every home.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use crate::workspace;

/// Where models lie in the folder for the data of a user.
const MODELS: &str = "deskhand/local";

/// Pulls the model, unless it is there, and returns the folder of the models.
pub(super) fn pull(binary: &Path) -> Result<PathBuf> {
    let data = workspace::root().join("target/applications");
    let pull = ["model", "pull", "ocr"];
    let status = Command::new(binary).args(pull).env("XDG_DATA_HOME", &data).status();
    ensure!(
        status.context("pull the model that reads pictures")?.success(),
        "`deskhand {}` failed",
        pull.join(" ")
    );
    Ok(data.join(MODELS))
}

/// The home of a user who has pulled these models.
pub(super) fn home(models: Option<&Path>) -> Result<TempDir> {
    let home = tempfile::tempdir().context("make a home folder")?;
    if let Some(models) = models {
        let place = home.path().join(".local/share").join(MODELS);
        let above = place.parent().context("find the folder of the data")?;
        fs::create_dir_all(above).context("make the folder of the data")?;
        symlink(models, &place).context("put the models there")?;
    }
    Ok(home)
}
