//! Desktop entries: the installed applications, their names and commands.
//!
//! `entry` reads one; `spoken` finds those that a name means which is not exactly that of one.
//!
//! A small reader of the freedesktop.org format: the group `[Desktop Entry]`, the keys that matter here, and
//! the command line with its field codes. Nothing is started here.
//!
//! Crates for it were left alone: `freedesktop-desktop-entry` 0.8 and `freedesktop_entry_parser` 2 are MPL-2.0, which
//! `deny.toml` does not allow, and the former builds GNU gettext from C source where none is installed.

mod entry;
mod spoken;

use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use deskhand_process::find_program;
use deskhand_ui::{
    InstalledApplication,
    suggest::{LIKELY_MIN, rank, similarity},
};
pub(crate) use entry::DesktopEntry;
use entry::{LAUNCHERS, is_interpreter};
pub(crate) use spoken::ApplicationNameMatch;

/// The most entries that are read.
const ENTRIES_MAX: usize = 4096;
/// The deepest folder below `applications` that is read.
const DEPTH_MAX: usize = 4;
/// The largest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// The most names that are suggested.
const SUGGESTIONS_MAX: usize = 3;

/// All installed applications.
#[derive(Debug, Clone, Default)]
pub(crate) struct DesktopEntries {
    entries: Vec<DesktopEntry>,
    /// Search path of programs.
    path: OsString,
    /// Those of a menu, once they were asked for.
    applications: OnceLock<Vec<InstalledApplication>>,
}

impl DesktopEntries {
    /// Reads the `applications` folders of `data_folders`; the first entry of an id wins. Blocking.
    pub(crate) fn read(data_folders: &[PathBuf], path: &OsStr) -> Self {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        for folder in data_folders {
            collect(&folder.join("applications"), "", DEPTH_MAX, &mut seen, &mut entries);
        }
        entries.retain(|entry: &DesktopEntry| {
            entry.try_exec.as_ref().is_none_or(|program| find_program(program, path, Path::new("")).is_some())
        });
        Self { entries, path: path.to_owned(), applications: OnceLock::new() }
    }

    /// All entries, sorted by id within each folder.
    pub(crate) fn all(&self) -> &[DesktopEntry] {
        &self.entries
    }

    /// Finds an entry by id, by name in any case, by id without its prefix, or by its program, if that means one entry.
    pub(crate) fn find(&self, wanted: &str) -> Option<&DesktopEntry> {
        let wanted = wanted.trim();
        let id = wanted.strip_suffix(".desktop").unwrap_or(wanted);
        let same = |text: &str| text.to_lowercase() == id.to_lowercase();
        let by_id = self.entries.iter().find(|entry| entry.id == id);
        by_id
            .or_else(|| self.entries.iter().find(|entry| !entry.hidden && same(&entry.name)))
            .or_else(|| self.entries.iter().find(|entry| same(&entry.id) || same(last_part(&entry.id))))
            .or_else(|| self.entries.iter().find(|entry| same(&entry.name)))
            .or_else(|| self.find_by_program(id))
    }

    /// The entry that a program belongs to: the one that starts it without arguments of its own, else the only one. Started by
    /// that name, a program always gets the command line of an entry.
    fn find_by_program(&self, program: &str) -> Option<&DesktopEntry> {
        // A shell is no application, even if only one is started by it.
        if program.is_empty() || LAUNCHERS.contains(&program) || is_interpreter(program) {
            return None;
        }
        let of_program =
            || self.entries.iter().filter(|entry| !entry.hidden && entry.program_name() == program);
        let bare = of_program().find(|entry| entry.command_line(&[]).len() == 1);
        bare.or_else(|| of_program().next().filter(|_| of_program().nth(1).is_none()))
    }

    /// The entry whose windows have this class.
    pub(crate) fn find_by_class(&self, instance: &str, class: &str) -> Option<&DesktopEntry> {
        let names = [class.to_lowercase(), instance.to_lowercase()];
        let is_name = |text: &str| names.iter().any(|name| !name.is_empty() && *name == text.to_lowercase());
        let announced = |entry: &&DesktopEntry| entry.wm_class.as_deref().is_some_and(is_name);
        self.entries
            .iter()
            .find(announced)
            .or_else(|| self.entries.iter().find(|entry| is_name(&entry.id)))
            .or_else(|| self.entries.iter().find(|entry| !entry.hidden && is_name(last_part(&entry.id))))
            .or_else(|| self.entries.iter().find(|entry| !entry.hidden && is_name(&entry.program_name())))
    }

    /// The entries that a person would start from a menu, sorted by id. Without those that run what they are given, and without
    /// those of whose names one means such an entry.
    pub(crate) fn applications(&self) -> Vec<InstalledApplication> {
        self.plain().to_vec()
    }

    /// The entry of [`Self::applications`] that a name means by any of its names. What is not asked about because it names such an
    /// application starts that one, whatever programs of this name there are.
    pub(crate) fn named(&self, wanted: &str) -> Option<&DesktopEntry> {
        let named = self.plain().iter().find(|one| one.is_named(wanted))?;
        self.entries.iter().find(|entry| entry.id == named.id)
    }

    fn plain(&self) -> &[InstalledApplication] {
        self.applications.get_or_init(|| self.read_applications())
    }

    fn read_applications(&self) -> Vec<InstalledApplication> {
        let is_plain = |entry: &DesktopEntry| !entry.hidden && !entry.runs_what_it_is_given();
        let means_plain = |name: &str| self.find(name).is_none_or(is_plain);
        let plain = self
            .entries
            .iter()
            .filter(|entry| is_plain(entry))
            .filter(|entry| [&entry.id, last_part(&entry.id), &entry.name].into_iter().all(means_plain));
        // A program that does not mean its entry would be started without the arguments of the entry.
        let program_of = |entry: &DesktopEntry| {
            let program = entry.program_name();
            let means_it = self.find(&program).is_some_and(is_plain);
            if means_it { program } else { String::new() }
        };
        let mut applications: Vec<InstalledApplication> = plain
            .map(|entry| InstalledApplication {
                id: entry.id.clone(),
                name: entry.name.clone(),
                program: program_of(entry),
                also: self.also(entry),
            })
            .collect();
        applications.sort_by(|one, other| one.id.cmp(&other.id));
        applications
    }

    /// The names most similar to one that does not exist, most similar first.
    pub(crate) fn nearest(&self, wanted: &str) -> Vec<&str> {
        let shown = self.entries.iter().filter(|entry| !entry.hidden);
        let near = rank(shown, LIKELY_MIN, |entry| nearness(wanted, entry));
        let mut names: Vec<&str> = near.into_iter().map(|entry| entry.name.as_str()).collect();
        names.dedup();
        names.truncate(SUGGESTIONS_MAX);
        names
    }
}

/// Compares with the whole name, each of its words, the id, and what it is.
fn nearness(wanted: &str, entry: &DesktopEntry) -> f64 {
    let words = entry.name.split_whitespace().map(|word| similarity(wanted, word));
    let whole = [&entry.name, &entry.id, &entry.generic_name].map(|name| similarity(wanted, name));
    words.chain(whole).fold(0.0, f64::max)
}

fn last_part(id: &str) -> &str {
    id.rsplit('.').next().unwrap_or(id)
}

fn collect(
    folder: &Path,
    prefix: &str,
    depth: usize,
    seen: &mut HashSet<String>,
    entries: &mut Vec<DesktopEntry>,
) {
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let mut files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    files.sort();
    for file in files {
        let Some(name) = file.file_name().and_then(OsStr::to_str) else { continue };
        if entries.len() >= ENTRIES_MAX {
            return;
        }
        if file.is_dir() && depth > 0 {
            collect(&file, &format!("{prefix}{name}-"), depth.saturating_sub(1), seen, entries);
        } else if let Some(stem) = name.strip_suffix(".desktop") {
            let id = format!("{prefix}{stem}");
            let small = std::fs::metadata(&file).is_ok_and(|about| about.len() <= FILE_BYTES_MAX);
            // An id hides later ones even if its file says `Hidden=true`.
            if small && seen.insert(id.clone()) {
                let text = std::fs::read_to_string(&file).unwrap_or_default();
                entries.extend(DesktopEntry::parse(&id, &text).map(|entry| DesktopEntry { file, ..entry }));
            }
        }
    }
}

/// Directories where Flatpak and Snap export the entries of their applications; their own set-up adds these to
/// `XDG_DATA_DIRS`, but not for services.
const EXPORTED: [&str; 2] = ["/var/lib/flatpak/exports/share", "/var/lib/snapd/desktop"];

/// The parents of the `applications` folders, by precedence.
pub(crate) fn data_folders(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let home = variable("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".local/share")));
    let shared = variable("XDG_DATA_DIRS")
        .filter(|value| !value.is_empty())
        .unwrap_or_else(|| "/usr/local/share:/usr/share".into());
    let of_user = home.clone().map(|home| home.join("flatpak/exports/share"));
    let all = home.into_iter().chain(std::env::split_paths(&shared));
    let mut folders: Vec<PathBuf> = all.filter(|folder| folder.is_absolute()).collect();
    for exported in of_user.into_iter().chain(EXPORTED.map(PathBuf::from)) {
        if !folders.contains(&exported) {
            folders.push(exported);
        }
    }
    folders
}

#[cfg(test)]
mod tests;
