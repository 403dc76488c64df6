//! One desktop entry: what its file says, and its command line with field codes.

use std::{
    collections::HashSet,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use deskhand_process::find_program;
use deskhand_ui::{bare_name, name_words};

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
pub(super) const LAUNCHERS: &[&str] = &["exo-open", "flatpak", "snap"];
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
    /// Generic name of the application: `Text Editor`.
    pub(crate) generic_name: String,
    /// The names, and what it is, in other languages.
    pub(crate) translations: Vec<String>,
    /// Words that people look for it by, in all languages.
    pub(crate) keywords: Vec<String>,
    /// The words of its name, its id and its program.
    pub(crate) name_words: Vec<String>,
    /// Generic name and names in other languages, in lower case, and the name without parentheses and maker.
    pub(super) called: HashSet<String>,
    /// The words that say what it is and does, in all languages.
    pub(super) about: HashSet<String>,
    /// The command line, unescaped but not yet split.
    pub(crate) exec: String,
    /// The class of its windows.
    pub(crate) wm_class: Option<String>,
    /// A program that must be installed for the entry to count.
    pub(crate) try_exec: Option<String>,
    /// `true` if it is hidden from menus.
    pub(crate) hidden: bool,
    /// `true` if it runs in a terminal.
    pub(crate) terminal: bool,
    /// `true` if it is a terminal.
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

impl DesktopEntry {
    /// Reads one file; `None` if it is no application, or deleted (`Hidden=true`).
    pub(crate) fn parse(id: &str, text: &str) -> Option<Self> {
        let mut entry = Self {
            id: id.to_owned(),
            name: String::new(),
            generic_name: String::new(),
            translations: Vec::new(),
            keywords: Vec::new(),
            name_words: Vec::new(),
            called: HashSet::new(),
            about: HashSet::new(),
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
                key => entry.read_words(key, value),
            }
        }
        if entry.name.is_empty() || entry.exec.is_empty() {
            return None;
        }
        let named = format!("{} {} {}", entry.name, entry.id, entry.program_name());
        entry.name_words = name_words(&named);
        entry.name_words.sort();
        entry.name_words.dedup();
        // Looked up for each name of every other entry.
        let said = || entry.translations.iter().chain([&entry.generic_name]);
        let short = entry.name.split('(').next().unwrap_or(&entry.name).trim();
        entry.called = said().map(|name| name.to_lowercase()).chain([bare_name(short)]).collect();
        entry.about = said().chain(&entry.keywords).flat_map(|text| name_words(text)).collect();
        Some(entry)
    }

    /// Reads what it is called in other languages, what it is, and what it is looked for by.
    fn read_words(&mut self, key: &str, value: String) {
        let (plain, language) =
            key.split_once('[').map_or((key, None), |(key, language)| (key, Some(language)));
        match (plain, language) {
            ("GenericName", None) => self.generic_name = value,
            ("Name" | "GenericName", Some(_)) if !value.is_empty() => self.translations.push(value),
            ("Keywords", _) => {
                let words = value.split(';').map(str::trim).filter(|word| !word.is_empty());
                self.keywords.extend(words.map(ToOwned::to_owned));
            }
            _ => {}
        }
    }

    /// Returns `true` if it is a shell, an interpreter, a terminal, or a program that starts others.
    pub(crate) fn runs_what_it_is_given(&self) -> bool {
        let program = self.program_name();
        let words = self.command_line(&[]);
        let launches = LAUNCHERS.contains(&program.as_str())
            && (words.len() == 1 || words.iter().any(|word| word.contains(STARTS_TERMINAL)));
        self.terminal || self.is_terminal || launches || is_interpreter(&program)
    }

    /// Returns `true` if it opens addresses besides files (`%u` and `%U` of its command).
    pub(crate) fn takes_addresses(&self) -> bool {
        split_exec(&self.exec).iter().any(|word| word == "%u" || word == "%U")
    }

    /// Returns `true` if one start takes several files (`%F` and `%U` of its command).
    pub(crate) fn takes_several(&self) -> bool {
        split_exec(&self.exec).iter().any(|word| word == "%F" || word == "%U")
    }

    /// Returns `true` if its command is found on this path.
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

    /// The file name of the program: `mousepad` of `/usr/bin/mousepad %U`, and of `env A=b mousepad`, as Snap writes it.
    pub(crate) fn program_name(&self) -> String {
        let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
        let mut words = split_exec(&self.exec).into_iter();
        let first = name(&words.next().unwrap_or_default());
        if first != "env" {
            return first;
        }
        // Other arguments than variables make it do something else.
        let program = words.find(|word| !is_variable(word)).map(|word| name(&word));
        program.filter(|program| !program.starts_with(['-', '%'])).unwrap_or(first)
    }
}

/// Returns `true` if a program is a shell, an interpreter, or one that starts others.
pub(super) fn is_interpreter(program: &str) -> bool {
    let of_family = |family: &&str| {
        let rest = program.strip_prefix(*family);
        rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-'))
    };
    INTERPRETERS.contains(&program) || INTERPRETER_FAMILIES.iter().any(of_family)
}

/// Returns `true` if a word of a command line sets a variable.
fn is_variable(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name).unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
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
