//! Desktop entries: the installed applications, their names and commands.
//!
//! A small reader of the freedesktop.org format: the group `[Desktop Entry]`, the keys that matter here, and
//! the command line with its field codes. Nothing is started here.
//!
//! Crates for it were left alone: `freedesktop-desktop-entry` 0.8 and `freedesktop_entry_parser` 2 are MPL-2.0, which
//! `deny.toml` does not allow, and the former builds GNU gettext from C source where none is installed.

use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use deskhand_core::{
    suggest::{LIKELY_MIN, rank, similarity},
    ui::InstalledApplication,
};
use deskhand_process::find_program;

/// The most entries that are read.
const ENTRIES_MAX: usize = 4096;
/// The deepest folder below `applications` that is read.
const DEPTH_MAX: usize = 4;
/// The largest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// The most names that are suggested.
const SUGGESTIONS_MAX: usize = 3;

/// Programs that run or open whatever they are given: shells, interpreters, and what starts other programs.
const INTERPRETERS: &[&str] = &[
    "ash",
    "at",
    "awk",
    "bash",
    "batch",
    "busybox",
    "bwrap",
    "chroot",
    "chrt",
    "csh",
    "dash",
    "dbus-launch",
    "dbus-run-session",
    "distrobox",
    "docker",
    "doas",
    "env",
    "expect",
    "fakeroot",
    "firejail",
    "fish",
    "flock",
    "gawk",
    "gdb",
    "gio",
    "gnome-open",
    "gtk-launch",
    "gvfs-open",
    "ionice",
    "java",
    "kde-open",
    "kde-open5",
    "kioclient",
    "kioclient5",
    "ksh",
    "ld.so",
    "lua",
    "lxc",
    "machinectl",
    "mawk",
    "mono",
    "nice",
    "node",
    "nohup",
    "nsenter",
    "parallel",
    "perl",
    "php",
    "pkexec",
    "podman",
    "qemu-system",
    "ruby",
    "run-mailcap",
    "runuser",
    "screen",
    "script",
    "see",
    "setarch",
    "setpriv",
    "setsid",
    "sh",
    "ssh",
    "start-stop-daemon",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "tclsh",
    "time",
    "timeout",
    "tmux",
    "toolbox",
    "unshare",
    "watch",
    "wine",
    "wish",
    "xargs",
    "xdg-open",
    "xvfb-run",
    "zellij",
    "zsh",
];
/// Programs that start what their arguments say: an entry with arguments of its own starts that alone.
const LAUNCHERS: &[&str] = &["exo-open", "flatpak", "snap"];
/// An argument of these that starts a terminal.
const STARTS_TERMINAL: &str = "TerminalEmulator";
/// The same, with versions in their names.
const INTERPRETER_FAMILIES: &[&str] =
    &["bash", "lua", "node", "perl", "php", "python", "pypy", "ruby", "wine"];

/// One installed application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DesktopEntry {
    /// The file name without `.desktop`, folders joined by `-`.
    pub(crate) id: String,
    /// The display name.
    pub(crate) name: String,
    /// The command line, unescaped but not yet split.
    pub(crate) exec: String,
    /// The class of its windows.
    pub(crate) wm_class: Option<String>,
    /// A program that must be installed for the entry to count.
    pub(crate) try_exec: Option<String>,
    /// Whether it is hidden from menus.
    pub(crate) hidden: bool,
    /// Whether it runs in a terminal.
    pub(crate) terminal: bool,
    /// Whether it is a terminal.
    pub(crate) is_terminal: bool,
    /// Its working directory.
    pub(crate) folder: Option<PathBuf>,
    /// The types that it opens.
    pub(crate) mime_types: Vec<String>,
    /// Its rank among those that open a type, as KDE and `xdg-open` count: the highest first.
    pub(crate) preference: i32,
    /// Its icon.
    pub(crate) icon: Option<String>,
    /// The file that it was read from.
    pub(crate) file: PathBuf,
}

/// All installed applications.
#[derive(Debug, Clone, Default)]
pub(crate) struct DesktopEntries {
    entries: Vec<DesktopEntry>,
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
        Self { entries }
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
        if program.is_empty() || LAUNCHERS.contains(&program) {
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

/// Compares with the whole name, each of its words, and the id.
fn nearness(wanted: &str, entry: &DesktopEntry) -> f64 {
    let words = entry.name.split_whitespace().map(|word| similarity(wanted, word));
    words.fold(similarity(wanted, &entry.name).max(similarity(wanted, &entry.id)), f64::max)
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

impl DesktopEntry {
    /// Reads one file; `None` if it is no application, or deleted (`Hidden=true`).
    pub(crate) fn parse(id: &str, text: &str) -> Option<Self> {
        let mut entry = Self {
            id: id.to_owned(),
            name: String::new(),
            exec: String::new(),
            wm_class: None,
            try_exec: None,
            hidden: false,
            terminal: false,
            is_terminal: false,
            folder: None,
            mime_types: Vec::new(),
            preference: 0,
            icon: None,
            file: PathBuf::new(),
        };
        let lines = text
            .lines()
            .skip_while(|line| line.trim() != "[Desktop Entry]")
            .skip(1)
            .take_while(|line| !line.trim_start().starts_with('['));
        for line in lines.filter(|line| !line.trim_start().starts_with('#')) {
            let Some((key, value)) = line.split_once('=') else { continue };
            let value = unescape(value.trim());
            match key.trim() {
                "Type" if value != "Application" => return None,
                "Hidden" if value == "true" => return None,
                "Name" => entry.name = value,
                "Exec" => entry.exec = value,
                "StartupWMClass" => entry.wm_class = Some(value).filter(|class| !class.is_empty()),
                "TryExec" => entry.try_exec = Some(value).filter(|program| !program.is_empty()),
                "NoDisplay" => entry.hidden = value == "true",
                "Terminal" => entry.terminal = value == "true",
                "Categories" => entry.is_terminal = value.split(';').any(|one| one == "TerminalEmulator"),
                "MimeType" => {
                    let types = value.split(';').map(str::trim).filter(|one| !one.is_empty());
                    entry.mime_types = types.map(ToOwned::to_owned).collect();
                }
                "InitialPreference" => entry.preference = value.parse().unwrap_or(0),
                "Icon" => entry.icon = Some(value).filter(|icon| !icon.is_empty()),
                "Path" => entry.folder = Some(PathBuf::from(value)).filter(|path| path.is_absolute()),
                _ => {}
            }
        }
        (!entry.name.is_empty() && !entry.exec.is_empty()).then_some(entry)
    }

    /// Whether it is a shell, an interpreter, a terminal, or a program that starts others.
    pub(crate) fn runs_what_it_is_given(&self) -> bool {
        let program = self.program_name();
        let words = self.command_line(&[]);
        let launches = LAUNCHERS.contains(&program.as_str())
            && (words.len() == 1 || words.iter().any(|word| word.contains(STARTS_TERMINAL)));
        let of_family = |family: &&str| {
            let rest = program.strip_prefix(*family);
            rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-'))
        };
        self.terminal
            || self.is_terminal
            || launches
            || INTERPRETERS.contains(&program.as_str())
            || INTERPRETER_FAMILIES.iter().any(of_family)
    }

    /// Whether it opens addresses besides files (`%u` and `%U` of its command).
    pub(crate) fn takes_addresses(&self) -> bool {
        split_exec(&self.exec).iter().any(|word| word == "%u" || word == "%U")
    }

    /// Whether one start takes several files (`%F` and `%U` of its command).
    pub(crate) fn takes_several(&self) -> bool {
        split_exec(&self.exec).iter().any(|word| word == "%F" || word == "%U")
    }

    /// Whether its command is found on this path.
    pub(crate) fn is_installed(&self, path: &OsStr) -> bool {
        let command = split_exec(&self.exec).into_iter().next();
        command.is_some_and(|command| find_program(command, path, Path::new("")).is_some())
    }

    /// The program and its arguments; `files` replace the field code, or are appended. All of them are passed even where the code is
    /// for one: whoever has several for such a program starts it once for each.
    pub(crate) fn command_line(&self, files: &[String]) -> Vec<String> {
        let mut words = Vec::new();
        let mut placed = false;
        for word in split_exec(&self.exec) {
            match word.as_str() {
                "%f" | "%u" | "%F" | "%U" => {
                    placed = true;
                    words.extend(files.iter().cloned());
                }
                "%i" => words.extend(self.icon.iter().flat_map(|icon| ["--icon".to_owned(), icon.clone()])),
                "%k" if self.file.as_os_str().is_empty() => {}
                "%d" | "%D" | "%n" | "%N" | "%v" | "%m" => {}
                _ => {
                    let has_file = word.contains("%f") || word.contains("%u");
                    // An option for a file, without one.
                    if has_file && files.is_empty() {
                        continue;
                    }
                    placed |= has_file;
                    words.push(self.expand(&word, files));
                }
            }
        }
        if !placed {
            words.extend(files.iter().cloned());
        }
        words
    }

    fn expand(&self, word: &str, files: &[String]) -> String {
        let mut expanded = String::with_capacity(word.len());
        let mut characters = word.chars();
        while let Some(character) = characters.next() {
            if character != '%' {
                expanded.push(character);
                continue;
            }
            match characters.next() {
                Some('%') => expanded.push('%'),
                Some('c') => expanded.push_str(&self.name),
                Some('k') => expanded.push_str(&self.file.to_string_lossy()),
                Some('f' | 'u') => expanded.push_str(files.first().map_or("", String::as_str)),
                _ => {}
            }
        }
        expanded
    }

    /// The file name of the program: `mousepad` of `/usr/bin/mousepad %U`.
    pub(crate) fn program_name(&self) -> String {
        let program = split_exec(&self.exec).into_iter().next().unwrap_or_default();
        program.rsplit('/').next().unwrap_or_default().to_owned()
    }
}

/// Unescapes `\s`, `\n`, `\t`, `\r` and `\\` of string values; other escapes belong to the command line.
fn unescape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('s') => text.push(' '),
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('\\') => text.push('\\'),
            Some(other) => text.extend(['\\', other]),
            None => text.push('\\'),
        }
    }
    text
}

/// Splits at spaces. Double quotes keep words together; a backslash inside them escapes the next character.
fn split_exec(exec: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut begun) = (Vec::new(), String::new(), false, false);
    let mut characters = exec.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                quoted = !quoted;
                begun = true;
            }
            '\\' if quoted => word.extend(characters.next()),
            _ if character.is_whitespace() && !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            _ => {
                word.push(character);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

/// The parents of the `applications` folders, by precedence.
pub(crate) fn data_folders(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let home = variable("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".local/share")));
    let shared = variable("XDG_DATA_DIRS")
        .filter(|value| !value.is_empty())
        .unwrap_or_else(|| "/usr/local/share:/usr/share".into());
    home.into_iter().chain(std::env::split_paths(&shared)).filter(|folder| folder.is_absolute()).collect()
}

#[cfg(test)]
#[path = "desktop_entries_tests.rs"]
mod tests;
