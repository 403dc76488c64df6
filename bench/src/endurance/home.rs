//! The home folder before and after a run: what applications keep there, and what must not be there.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{left::walk, place::Place};

/// Where applications keep their settings and caches.
const OF_APPLICATIONS: &[&str] = &[".cache", ".config", ".dbus", ".local/share"];
/// What the request is about.
const OF_THE_REQUEST: &[&str] = &["note.txt", "work/log.txt"];
/// The folders of local models, of knowledge and of workflows: they are made before applications start, so that none of them makes them
/// in our place.
const OF_OURS: &[&str] = &[
    ".local/share/deskhand",
    ".local/share/deskhand/knowledge",
    ".local/share/deskhand/local",
    ".local/share/deskhand/programs",
    ".local/share/deskhand/workflows",
];

/// What is known of a file; of a folder, its permissions alone.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    mode: u32,
    file: Option<(u64, Option<SystemTime>)>,
}

/// The home folder without the session and runtime folders, which are judged by themselves, and without messages of commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Home(BTreeMap<PathBuf, Known>);

/// What changed in the home folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// All of it: `new .config/Mousepad`.
    pub(super) all: Vec<String>,
    /// What neither an application nor the request explains.
    pub(super) wrong: Vec<String>,
}

impl Home {
    pub(super) fn now(place: &Place) -> io::Result<Self> {
        let apart = [place.state(), place.runtime()];
        let mut known = BTreeMap::new();
        walk(&place.home, &mut |path, data| {
            let is_message = path.parent() == Some(place.home.as_path())
                && path.extension().is_some_and(|extension| extension == "err");
            if is_message || apart.iter().any(|folder| path.starts_with(folder)) {
                return;
            }
            let file = data.is_file().then(|| (data.len(), data.modified().ok()));
            let path = path.strip_prefix(&place.home).unwrap_or(path);
            known.insert(path.to_owned(), Known { mode: data.permissions().mode(), file });
        })?;
        Ok(Self(known))
    }

    /// What is there now and was not before, and the reverse.
    pub(super) fn changes(&self, now: &Self) -> Changes {
        let mut changes = Changes::default();
        let all: BTreeSet<&PathBuf> = self.0.keys().chain(now.0.keys()).collect();
        for path in all {
            let what = match (self.0.get(path), now.0.get(path)) {
                (None, Some(_)) => "new",
                (Some(_), None) => "gone",
                (Some(before), Some(after)) if before != after => "changed",
                (Some(_), Some(_)) | (None, None) => continue,
            };
            let change = format!("{what} {}", path.display());
            if !is_explained(path, what) {
                changes.wrong.push(format!("in the home folder: {change}"));
            }
            changes.all.push(change);
        }
        changes
    }
}

fn is_explained(path: &Path, what: &str) -> bool {
    let is_ours = path.iter().any(|name| name.to_string_lossy().to_lowercase().contains("deskhand"));
    let is_of_application = OF_APPLICATIONS
        .iter()
        .any(|folder| path.starts_with(folder) || (what != "gone" && Path::new(folder).starts_with(path)));
    let is_of_request = what != "gone" && OF_THE_REQUEST.iter().any(|file| path == Path::new(file));
    let is_expected = what == "new" && OF_OURS.iter().any(|folder| path == Path::new(folder));
    is_expected || !is_ours && (is_of_application || is_of_request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_application_and_no_request_explains_is_wrong() {
        let file = |length: u64| Known { mode: 0o600, file: Some((length, None)) };
        let home = |files: &[(&str, u64)]| {
            Home(files.iter().map(|(path, length)| (PathBuf::from(path), file(*length))).collect())
        };
        let before = home(&[("note.txt", 0), (".config/deskhand/config.toml", 9), ("letter.txt", 3)]);
        let after = home(&[
            ("note.txt", 5),
            (".config/deskhand/config.toml", 9),
            (".config/Mousepad/accels", 1),
            (".cache/deskhand/x", 1),
            (".local/share/deskhand/local", 1),
            (".local/share/deskhand/local/python", 1),
            ("work/log.txt", 2),
            ("stray.part", 1),
        ]);
        let changes = before.changes(&after);
        assert_eq!(changes.all.len(), 8, "{:?}", changes.all);
        let wrong = [
            "new .cache/deskhand/x",
            "new .local/share/deskhand/local/python",
            "gone letter.txt",
            "new stray.part",
        ];
        assert_eq!(changes.wrong, wrong.map(|change| format!("in the home folder: {change}")));
        let settings = home(&[(".config/deskhand/config.toml", 10)]);
        let before = home(&[(".config/deskhand/config.toml", 9)]);
        assert_eq!(before.changes(&settings).wrong.len(), 1);
        assert_eq!(before.changes(&before), Changes::default());
    }
}
