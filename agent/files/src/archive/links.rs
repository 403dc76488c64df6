//! Links of an archive. They are made after all files, so that no file is written through one.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use super::names::{inside, stays_inside};

/// The most links.
pub(super) const LINKS_MAX: usize = 10_000;

/// A link that is to be made.
pub(super) enum ArchiveLink {
    Symbolic { path: PathBuf, target: String },
    Hard { path: PathBuf, target: String },
}

impl ArchiveLink {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Symbolic { path, .. } | Self::Hard { path, .. } => path,
        }
    }

    pub(super) fn is_hard(&self) -> bool {
        matches!(self, Self::Hard { .. })
    }

    /// Makes the link below `root`, or says why it is refused. Hard links must come before symbolic ones.
    pub(super) fn make(&self, root: &Path) -> Result<(), String> {
        let place = root.join(self.path());
        make_parents(root, self.path())?;
        let made = match self {
            Self::Symbolic { path, target } if stays_inside(path, target) => symlink(target, &place),
            Self::Symbolic { target, .. } => return Err(format!("the link leads outside, to {target:?}")),
            Self::Hard { target, .. } => {
                let source = inside(target).map_err(|why| format!("the hard link to {target:?}: {why}"))?;
                let source = root.join(source);
                if !fs::symlink_metadata(&source).is_ok_and(|metadata| metadata.is_file()) {
                    return Err(format!("the hard link is to {target:?}, which was not unpacked"));
                }
                fs::hard_link(source, &place)
            }
        };
        made.map_err(|error| {
            let is_taken = error.kind() == io::ErrorKind::AlreadyExists;
            if is_taken { "its name occurs twice".to_owned() } else { error.to_string() }
        })
    }
}

/// Makes the folders above a link. None of them may be a link: a target that begins with `..` would start from
/// wherever that one leads to.
fn make_parents(root: &Path, path: &Path) -> Result<(), String> {
    let mut folder = root.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        match fs::symlink_metadata(&folder) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err("its folder is a link or a file".to_owned()),
            Err(_) => fs::create_dir(&folder).map_err(|error| error.to_string())?,
        }
    }
    Ok(())
}
