//! The token with which a portal does not ask a person again: a secret, in a file that only its owner reads.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

/// The longest token that is read, in bytes.
const LENGTH_MAX: u64 = 4_096;

/// Storage of a token; it is not stored without a file.
pub(super) struct Token<'a> {
    file: Option<&'a Path>,
}

impl<'a> Token<'a> {
    pub(super) const fn of(file: Option<&'a Path>) -> Self {
        Self { file }
    }

    /// The token that was kept.
    pub(super) fn read(&self) -> Option<String> {
        let file = self.file?;
        let is_short = fs::metadata(file).is_ok_and(|facts| facts.len() <= LENGTH_MAX);
        let text = is_short.then(|| fs::read_to_string(file).ok())??;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Keeps a token, each of which is good once. Without it the person is asked again, so a failure is only logged.
    pub(super) fn write(&self, token: &str) {
        let Some(file) = self.file else { return };
        if let Err(error) = replace(file, token) {
            tracing::warn!(%error, "cannot keep the permission to use the desktop; it will be asked for again");
        }
    }
}

/// Writes a file beside it and renames it, so that the old token is never half overwritten.
fn replace(file: &Path, token: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = file.with_extension("new");
    fs::remove_file(&beside).ok();
    let mut new = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    new.write_all(token.as_bytes())?;
    fs::rename(&beside, file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_kept_for_its_owner_alone() {
        let folder = std::env::temp_dir().join(format!("deskhand-token-{}", std::process::id()));
        let file = folder.join("deskhand").join("portal-token");
        let token = Token::of(Some(&file));
        assert_eq!(token.read(), None);
        token.write("first");
        token.write("second");
        assert_eq!(token.read().as_deref(), Some("second"));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(Token::of(None).read(), None);
        fs::remove_dir_all(folder).unwrap();
    }
}
