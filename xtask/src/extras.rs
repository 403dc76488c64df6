//! Programs of Deskhand that are installed separately: few users need them, and they take long to build.

use std::{env, fs, path::PathBuf};

use anyhow::{Context as _, Result};
use clap::ValueEnum;

use crate::{
    console,
    product::{self, Build},
};

/// A program that is installed separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Extra {
    /// Text in pictures and the meaning of texts, by models on this machine.
    Local,
}

impl Extra {
    /// The package, and the program in it.
    const fn program(self) -> &'static str {
        match self {
            Self::Local => "deskhand-local",
        }
    }

    /// Builds it for release and installs it for this user, where Deskhand finds it and applications cannot put another one in its place.
    ///
    /// # Errors
    /// The build fails, or the folder cannot be written.
    pub fn install(self) -> Result<()> {
        let name = self.program();
        let built = product::built_program(name, Build::Release)?;
        let folder = programs_folder()?;
        fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
        // Not in place: it may be running.
        let (new, file) = (folder.join(format!("{name}.new")), folder.join(name));
        fs::copy(&built, &new).with_context(|| format!("copy {} to {}", built.display(), new.display()))?;
        fs::rename(&new, &file).with_context(|| format!("replace {}", file.display()))?;
        console::progress(&format!("installed {}", file.display()));
        Ok(())
    }
}

/// The folder of such programs: XDG Base Directory Specification.
fn programs_folder() -> Result<PathBuf> {
    let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share"));
    Ok(data.or_else(home).context("find the home folder: HOME is not set")?.join("deskhand/programs"))
}
