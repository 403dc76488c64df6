//! Names of entries that stay inside the folder that is unpacked into.

use std::path::{Component, Path, PathBuf};

/// The longest name of a file or folder, in bytes.
const NAME_MAX: usize = 255;
/// The longest path, in bytes.
const PATH_MAX: usize = 3_000;
/// The most levels of folders.
const DEPTH_MAX: usize = 64;

/// The path of an entry inside the folder, or why it is refused.
pub(super) fn inside(name: &str) -> Result<PathBuf, &'static str> {
    // Some programs for Windows store backslashes.
    let name = name.replace('\\', "/");
    if name.contains('\0') || name.chars().any(char::is_control) {
        return Err("its name contains control characters");
    }
    if name.starts_with('/') || has_drive(&name) {
        return Err("its name is an absolute path");
    }
    if name.len() > PATH_MAX || name.split('/').any(|part| part.len() > NAME_MAX) {
        return Err("its name is too long");
    }
    let mut path = PathBuf::new();
    for (depth, part) in Path::new(&name).components().enumerate() {
        match part {
            Component::Normal(part) if depth < DEPTH_MAX => path.push(part),
            Component::Normal(_) => return Err("it is in too many levels of folders"),
            Component::CurDir => {}
            Component::ParentDir => return Err("its name leads outside (..)"),
            Component::RootDir | Component::Prefix(_) => return Err("its name is an absolute path"),
        }
    }
    if path.as_os_str().is_empty() { Err("it has no name") } else { Ok(path) }
}

fn has_drive(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && letters.next() == Some(':')
}

/// Returns `true` if a symbolic link at this path inside the folder, with this target, stays inside.
///
/// `..` is allowed at the beginning only. There it starts from a real folder; after a name, it could start
/// from wherever another link leads to.
pub(super) fn stays_inside(link: &Path, target: &str) -> bool {
    let mut depth = link.components().count().saturating_sub(1);
    let mut has_name = false;
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir if has_name => return false,
            Component::ParentDir => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return false,
            },
            Component::Normal(_) => has_name = true,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    !target.is_empty() && !target.contains('\0')
}
