//! Sources of secrets.

use std::{
    env, fmt,
    fs::{self, File},
    io::Read as _,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};
use zeroize::Zeroizing;

use crate::{SecretError, SecretValue};

/// The largest file that is read, in bytes.
const FILE_MAX: u64 = 64 * 1024;

/// The source of a key, a token or a password. Messages name the source, never the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// An environment variable.
    Environment(String),
    /// A file.
    File(PathBuf),
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(name) => write!(f, "the environment variable {name}"),
            Self::File(path) => write!(f, "the file {}", path.display()),
        }
    }
}

/// Reads a secret from a file that only its owner, who is the user of this process, can read and change.
///
/// # Errors
/// If it is no such file, or holds no usable value.
pub fn read_file(path: &Path) -> Result<SecretValue, SecretError> {
    keep_no_core();
    // Opened once and asked about the open file, so that nothing can be put in its place in between.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let opened = fs::OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = opened.map_err(|error| {
        let is_link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
        if is_link { SecretError::NoFile } else { SecretError::Unreadable(error) }
    })?;
    check(&file)?;
    let mut text = Zeroizing::new(String::new());
    file.take(FILE_MAX).read_to_string(&mut text).map_err(SecretError::Unreadable)?;
    SecretValue::new(text.as_str())
}

fn check(file: &File) -> Result<(), SecretError> {
    let data = file.metadata().map_err(SecretError::Unreadable)?;
    let mode = data.mode() & 0o777;
    if !data.is_file() {
        Err(SecretError::NoFile)
    } else if data.uid() != rustix::process::geteuid().as_raw() {
        Err(SecretError::Foreign)
    } else if mode & 0o077 != 0 {
        Err(SecretError::Open { mode })
    } else {
        Ok(())
    }
}

/// Reads a secret from an environment variable.
///
/// # Errors
/// If it is not set, or holds no usable value.
pub fn read_environment(name: &str) -> Result<SecretValue, SecretError> {
    keep_no_core();
    SecretValue::new(env::var(name).map_err(|_| SecretError::NotSet)?)
}

/// Marks this process as not dumpable: its memory goes neither into core files nor to a program that collects them, for which `RLIMIT_CORE`
/// does not hold, and other programs of the user cannot read it. A failure is ignored.
pub(crate) fn keep_no_core() {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
    let limit = getrlimit(Resource::Core);
    setrlimit(Resource::Core, Rlimit { current: Some(0), ..limit }).ok();
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_file_must_be_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop");
        let read =
            || read_file(&path).map(|value| value.expose().to_owned()).map_err(|error| error.to_string());
        assert!(read().unwrap_err().starts_with("cannot be read"));
        fs::write(&path, "canary-7f3a\n").unwrap();
        for mode in [0o644, 0o640, 0o604, 0o660, 0o602] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert!(read().unwrap_err().contains("can be read or changed by others"), "{mode:o}");
        }
        for mode in [0o600, 0o400] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(read().unwrap(), "canary-7f3a");
        }
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(matches!(read_file(&link), Err(SecretError::NoFile)));
        assert!(matches!(read_file(folder.path()), Err(SecretError::NoFile)));
    }

    #[test]
    fn a_variable_is_named_if_it_is_not_set() {
        assert_eq!(read_environment("CARGO_PKG_NAME").unwrap().expose(), "deskhand-secret");
        let error = read_environment("DESKHAND_TEST_NO_SUCH_SECRET").unwrap_err();
        assert_eq!(error.to_string(), "is not set");
    }
}
