//! The key that seals journals, and the folder that holds it.
//!
//! The folder lies outside of the sessions, so that who can write to a session can neither seal a record nor move an anchor.

use std::{
    fmt, fs,
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use super::{JournalError, disk, store::hex};
use crate::private;

/// The length of the key, in bytes.
const KEY_BYTES: usize = 32;
/// The number of hexadecimal digits that identify a key.
pub(super) const KEY_ID_HEX: usize = 16;
/// The permissions of group and others, of which the key has none.
const NOT_THE_OWNER: u32 = 0o077;

/// The purpose of a seal. A seal of one kind is never valid as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Identifies the key.
    KeyId,
    /// A line of a journal.
    Line,
    /// The head of a journal.
    Anchor,
    /// A file that says what is done, which the user made or trusts.
    Instructions,
}

impl Purpose {
    const fn prefix(self) -> &'static [u8] {
        match self {
            Self::KeyId => b"deskhand key\n",
            Self::Line => b"deskhand journal line\n",
            Self::Anchor => b"deskhand journal anchor\n",
            Self::Instructions => b"deskhand instructions\n",
        }
    }
}

/// The key that seals journals on this machine.
#[derive(Clone)]
pub(crate) struct SealKey {
    mac: Hmac<Sha256>,
    id: String,
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl SealKey {
    pub(super) fn of(bytes: &[u8; KEY_BYTES]) -> Option<Self> {
        let mac = Hmac::new_from_slice(bytes).ok()?;
        let key = Self { mac, id: String::new() };
        let mut id = key.seal(Purpose::KeyId, &[]);
        id.truncate(KEY_ID_HEX);
        Some(Self { id, ..key })
    }

    /// Returns the id of the key, which the seals made with it carry.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The seal of some bytes, in hexadecimal.
    pub(super) fn seal(&self, purpose: Purpose, bytes: &[u8]) -> String {
        hex(&self.begin(purpose, bytes).finalize().into_bytes())
    }

    /// Returns `true` if a seal of this key belongs to these bytes.
    pub(super) fn holds(&self, purpose: Purpose, bytes: &[u8], seal: &[u8]) -> bool {
        let mut expected = [0; KEY_BYTES];
        let is_hex = seal.len() == 2 * KEY_BYTES
            && expected.iter_mut().zip(seal.chunks_exact(2)).all(|(byte, digits)| {
                let text = std::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'));
                text.and_then(|text| u8::from_str_radix(text, 16).ok()).map(|read| *byte = read).is_some()
            });
        is_hex && self.begin(purpose, bytes).verify_slice(&expected).is_ok()
    }

    fn begin(&self, purpose: Purpose, bytes: &[u8]) -> Hmac<Sha256> {
        self.mac.clone().chain_update(purpose.prefix()).chain_update(bytes)
    }
}

/// The folder with the key of all journals and the anchor of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealFolder {
    path: PathBuf,
}

impl SealFolder {
    /// The seals in `path`; the folder and the key are created with the first session.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The key file.
    pub fn key_path(&self) -> PathBuf {
        self.path.join("journal.key")
    }

    /// The folder of the anchors.
    pub(super) fn anchors_path(&self) -> PathBuf {
        self.path.join("anchors")
    }

    /// The folder of the seals of files that say what is done.
    pub(super) fn instructions_path(&self) -> PathBuf {
        self.path.join("instructions")
    }

    /// The key; `None` if there is none.
    ///
    /// # Errors
    /// [`JournalError::File`] if it cannot be read, [`JournalError::Key`] if it is not a key or not private.
    pub(crate) fn key(&self) -> Result<Option<SealKey>, JournalError> {
        let path = self.key_path();
        let read = || -> io::Result<(Vec<u8>, u32)> {
            let mode = fs::metadata(&path)?.permissions().mode();
            Ok((fs::read(&path)?, mode))
        };
        let (bytes, mode) = match read() {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(JournalError::file("read", path, source)),
        };
        let wrong = |problem: &'static str| JournalError::Key { path: path.clone(), problem };
        if mode & NOT_THE_OWNER != 0 {
            return Err(wrong("other users can access it; run `chmod 600` on it if nobody did"));
        }
        let bytes: [u8; KEY_BYTES] =
            bytes.try_into().map_err(|_| wrong("it is not 32 bytes long; move it away"))?;
        SealKey::of(&bytes).map(Some).ok_or_else(|| wrong("it is not a key"))
    }

    /// The key, created if there is none.
    ///
    /// # Errors
    /// [`JournalError`] as in [`Self::key`], or if it cannot be created.
    pub(super) fn key_or_new(&self) -> Result<SealKey, JournalError> {
        if let Some(key) = self.key()? {
            return Ok(key);
        }
        let path = self.key_path();
        self.create_key(&path).map_err(|source| JournalError::file("create", &path, source))?;
        let problem = "it was removed while it was read";
        self.key()?.ok_or(JournalError::Key { path, problem })
    }

    /// Creates the key. If another process does so at the same time, the key of the first one stays.
    fn create_key(&self, path: &Path) -> io::Result<()> {
        disk::create_folders(&self.path)?;
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let mut file = fs::OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .mode(private::FILE_MODE)
            .open(disk::part_of(path))?;
        // Only one process writes it, and none takes it away meanwhile.
        file.lock()?;
        let part = disk::part_of(path);
        if path.exists() {
            // Nobody needs it any more; its writer may have removed it.
            fs::remove_file(part).ok();
            return Ok(());
        }
        if let Err(error) =
            file.set_len(0).and_then(|()| file.write_all(&bytes)).and_then(|()| file.sync_all())
        {
            // A full disk has no space for whoever waits for the lock either.
            fs::remove_file(part).ok();
            return Err(error);
        }
        match fs::hard_link(&part, path) {
            Ok(()) => {
                fs::remove_file(&part)?;
                disk::sync_folder(&self.path)
            }
            // Another process was faster, and has removed the file that this one wrote.
            Err(_) if path.exists() => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_created_once_and_private() {
        let home = tempfile::tempdir().unwrap();
        let seals = SealFolder::at(home.path().join("state/seals"));
        assert!(seals.key().unwrap().is_none());
        let key = seals.key_or_new().unwrap();
        assert_eq!(seals.key_or_new().unwrap().id(), key.id());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&seals.key_path()), 0o600);
        assert_eq!([mode(&home.path().join("state")), mode(&home.path().join("state/seals"))], [0o700; 2]);
        assert_eq!(fs::read(seals.key_path()).unwrap().len(), KEY_BYTES);
        assert!(!format!("{key:?}").contains("mac"), "{key:?}");

        fs::set_permissions(seals.key_path(), fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(seals.key(), Err(JournalError::Key { .. })));
        fs::set_permissions(seals.key_path(), fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(seals.key_path(), "short").unwrap();
        assert!(matches!(seals.key_or_new(), Err(JournalError::Key { .. })));
    }

    #[test]
    fn a_seal_holds_for_its_bytes_its_purpose_and_its_key_alone() {
        let [key, other] = [1, 2].map(|byte| SealKey::of(&[byte; KEY_BYTES]).unwrap());
        let seal = key.seal(Purpose::Line, b"text");
        let check = |key: &SealKey, purpose, text: &[u8], seal: &str, expected| {
            assert_eq!(key.holds(purpose, text, seal.as_bytes()), expected, "{purpose:?} {seal}");
        };
        check(&key, Purpose::Line, b"text", &seal, true);
        check(&key, Purpose::Anchor, b"text", &seal, false);
        check(&key, Purpose::Line, b"test", &seal, false);
        check(&other, Purpose::Line, b"text", &seal, false);
        check(&key, Purpose::Line, b"text", &seal[2..], false);
        check(&key, Purpose::Line, b"text", &format!("+{}", &seal[1..]), false);
        assert_ne!(key.id(), other.id());
        assert_eq!(key.id().len(), KEY_ID_HEX);
    }
}
