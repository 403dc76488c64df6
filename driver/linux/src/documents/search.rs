//! The search for the file of a name.

use std::{fs, path::PathBuf};

use super::paths::{absolute, decoded};

/// The longest list of recently used files that is read, in bytes.
const RECENT_MAX: u64 = 8 << 20;

/// Possible places of a file of a name.
pub(super) struct DocumentPathSearch {
    pub(super) home: Option<PathBuf>,
    pub(super) pid: Option<u32>,
    pub(super) known: Vec<PathBuf>,
    pub(super) begun: Vec<PathBuf>,
}

impl DocumentPathSearch {
    /// The file of a document.
    pub(super) fn find(&self, name: &str, path: Option<&str>) -> Option<PathBuf> {
        let home = self.home.as_deref();
        if let Some(path) = path {
            return Some(absolute(path, home)).filter(|path| path.is_file() || self.begun.contains(path));
        }
        let fits = |path: &PathBuf| {
            path.file_name().is_some_and(|last| last.to_string_lossy() == name) && path.is_file()
        };
        if let Some(known) = self.known.iter().rev().find(|path| fits(path)) {
            return Some(known.clone());
        }
        let process = self.pid.map(|pid| PathBuf::from(format!("/proc/{pid}")));
        let folder = process.as_ref().and_then(|process| fs::read_link(process.join("cwd")).ok());
        let arguments = process.as_ref().and_then(|process| fs::read(process.join("cmdline")).ok());
        let arguments = arguments.unwrap_or_default();
        let given = arguments.split(|byte| *byte == 0).map(String::from_utf8_lossy).filter_map(|argument| {
            let path = absolute(&argument, home);
            let plain = argument.starts_with(['/', '~']) || argument.starts_with("file://");
            if plain { Some(path) } else { Some(folder.as_ref()?.join(&*argument)) }
        });
        if let Some(given) = given.into_iter().find(fits) {
            return Some(given);
        }
        let open = process.map(|process| fs::read_dir(process.join("fd")));
        let mut open = open.into_iter().flatten().flatten().flatten();
        let opened = open.find_map(|entry| fs::read_link(entry.path()).ok().filter(fits));
        let beside = || folder.as_ref().map(|folder| folder.join(name)).filter(fits);
        let found = opened.or_else(|| self.recently_used().rev().find(fits)).or_else(beside);
        let named = |path: &&PathBuf| path.file_name().is_some_and(|last| last.to_string_lossy() == name);
        found.or_else(|| self.begun.iter().rev().find(named).cloned())
    }

    /// The recently used files, the last one noted last.
    fn recently_used(&self) -> std::vec::IntoIter<PathBuf> {
        let list = self.home.as_ref().map(|home| home.join(".local/share/recently-used.xbel"));
        let list = list.filter(|list| fs::metadata(list).is_ok_and(|found| found.len() <= RECENT_MAX));
        let text = list.and_then(|list| fs::read_to_string(list).ok()).unwrap_or_default();
        let mut marks: Vec<(String, PathBuf)> = text
            .split("<bookmark ")
            .skip(1)
            .filter_map(|mark| {
                let field = |name: &str| Some(mark.split_once(name)?.1.split('"').nth(1)?.to_owned());
                let address = field("href=")?.replace("&amp;", "&").replace("&apos;", "'");
                let path = decoded(address.strip_prefix("file://")?);
                Some((field("modified=")?, PathBuf::from(path)))
            })
            .collect();
        marks.sort();
        marks.into_iter().map(|(_, path)| path).collect::<Vec<_>>().into_iter()
    }
}
