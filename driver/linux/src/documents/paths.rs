//! Paths as they are written in titles and addresses.

use std::path::{Component, Path, PathBuf};

/// An absolute path without `.` and `..`; `~` and `file://` are resolved.
pub(super) fn absolute(path: &str, home: Option<&Path>) -> PathBuf {
    let path = path.trim();
    let decoded = path.strip_prefix("file://").map(decoded);
    let path = decoded.as_deref().unwrap_or(path);
    let path = match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(path),
    };
    let path = std::path::absolute(&path).unwrap_or(path);
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// Resolves `%20` and the like.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let hex = more.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = more.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_absolute() {
        let home = Path::new("/home/a");
        let check = |path: &str, expected: &str| assert_eq!(absolute(path, Some(home)), Path::new(expected));
        check("~/b/../c.txt", "/home/a/c.txt");
        check("~", "/home/a");
        check("file:///tmp/a%20b.txt", "/tmp/a b.txt");
        check("/x/./y", "/x/y");
    }
}
