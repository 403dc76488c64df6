//! Which applications the user, the desktop environment and the distribution have chosen for types: `mimeapps.list` and its
//! forerunner `defaults.list` (MIME applications associations of freedesktop.org, version 1.0.1).

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

use crate::desktop_entries::data_folders;

/// The largest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// The associations of all files, those of higher precedence first.
#[derive(Debug, Default)]
pub(super) struct Associations {
    files: Vec<MimeAppsList>,
}

/// One file: ids of desktop entries by type.
#[derive(Debug, Default)]
struct MimeAppsList {
    defaults: HashMap<String, Vec<String>>,
    added: HashMap<String, Vec<String>>,
    removed: HashMap<String, Vec<String>>,
}

impl Associations {
    /// Reads the files that `variable` leads to. Blocking.
    pub(super) fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let desktops = variable("XDG_CURRENT_DESKTOP").unwrap_or_default().to_string_lossy().to_lowercase();
        let names: Vec<String> = desktops
            .split(':')
            .filter(|name| !name.is_empty() && !name.contains('/'))
            .map(|name| format!("{name}-mimeapps.list"))
            .chain(["mimeapps.list".to_owned()])
            .collect();
        let in_folder = |folder: PathBuf| names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>();
        let of_settings = config_folders(&variable).into_iter().flat_map(in_folder);
        let of_data = data_folders(&variable).into_iter().flat_map(|folder| {
            let folder = folder.join("applications");
            let old = folder.join("defaults.list");
            in_folder(folder).into_iter().chain([old])
        });
        Self { files: of_settings.chain(of_data).filter_map(|file| MimeAppsList::read(&file)).collect() }
    }

    /// The default applications of a type, the first choice first.
    pub(super) fn defaults(&self, mime: &str) -> impl Iterator<Item = &str> {
        self.files.iter().flat_map(move |file| file.defaults.get(mime)).flatten().map(String::as_str)
    }

    /// The applications that were added to those that say themselves that they open a type.
    pub(super) fn added(&self, mime: &str) -> impl Iterator<Item = &str> {
        let files = self.files.iter().enumerate();
        files.flat_map(move |(index, file)| {
            let all = file.added.get(mime).into_iter().flatten().map(String::as_str);
            all.filter(move |id| !self.removes(mime, id, index))
        })
    }

    /// Returns `true` if an application was taken away from a type.
    pub(super) fn is_removed(&self, mime: &str, id: &str) -> bool {
        self.removes(mime, id, self.files.len())
    }

    /// Returns `true` if one of the first `count` files takes an application away.
    fn removes(&self, mime: &str, id: &str, count: usize) -> bool {
        let mut removed = self.files.iter().take(count).flat_map(|file| file.removed.get(mime)).flatten();
        removed.any(|removed| removed == id)
    }
}

impl MimeAppsList {
    fn read(file: &Path) -> Option<Self> {
        fs::metadata(file).ok().filter(|about| about.len() <= FILE_BYTES_MAX)?;
        Some(Self::parse(&fs::read_to_string(file).ok()?))
    }

    fn parse(text: &str) -> Self {
        let mut list = Self::default();
        let mut group: Option<&mut HashMap<String, Vec<String>>> = None;
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            match line {
                "[Default Applications]" => group = Some(&mut list.defaults),
                "[Added Associations]" => group = Some(&mut list.added),
                "[Removed Associations]" => group = Some(&mut list.removed),
                _ if line.starts_with('[') => group = None,
                _ => {
                    let (Some(group), Some((mime, ids))) = (group.as_mut(), line.split_once('=')) else {
                        continue;
                    };
                    let ids = ids.split(';').map(str::trim).filter_map(|id| id.strip_suffix(".desktop"));
                    group.entry(mime.trim().to_owned()).or_default().extend(ids.map(ToOwned::to_owned));
                }
            }
        }
        list
    }
}

/// The folders of settings, that of the user first.
fn config_folders(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let own = set("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".config")));
    let shared = set("XDG_CONFIG_DIRS").unwrap_or_else(|| OsStr::new("/etc/xdg").to_owned());
    own.into_iter().chain(std::env::split_paths(&shared)).filter(|folder| folder.is_absolute()).collect()
}
