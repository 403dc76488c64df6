//! The files of a source: which there are, in the wanted language, within limits.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::language::{Languages, is_language};

/// Limits on the amount of a source that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HelpLimits {
    /// The largest file, in bytes, also after decompression.
    pub file_bytes_max: u64,
    /// The most files.
    pub files_max: usize,
    /// The most bytes of all files together.
    pub total_bytes_max: u64,
    /// The most levels of folders.
    pub depth_max: usize,
    /// The most passages.
    pub passages_max: usize,
}

impl Default for HelpLimits {
    fn default() -> Self {
        Self {
            file_bytes_max: 8 * 1024 * 1024,
            files_max: 20_000,
            total_bytes_max: 512 * 1024 * 1024,
            depth_max: 12,
            passages_max: 200_000,
        }
    }
}

/// A file that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedHelpFile {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// The most skipped files that are named.
pub(crate) const SKIPPED_MAX: usize = 200;
/// The most entries of one folder that are looked at.
const ENTRIES_MAX: usize = 50_000;

/// Endings of files that have help.
const ENDINGS: [&str; 15] = [
    "page", "xml", "docbook", "html", "htm", "xhtml", "md", "markdown", "txt", "text", "rst", "pdf", "odt",
    "docx", "odp",
];
/// The beginnings of names of files that are about the package, not about its use.
const NO_HELP: [&str; 9] = [
    "copyright",
    "changelog",
    "changes",
    "news",
    "authors",
    "license",
    "copying",
    "legal.xml",
    "noscript.html",
];

/// The files of a source.
#[derive(Debug, Default)]
pub(crate) struct HelpFiles {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) skipped: Vec<SkippedHelpFile>,
    /// Description of the content that a limit cut off.
    pub(crate) left_out: Option<String>,
    bytes: u64,
}

/// Lists the files at a path, which is resolved already.
pub(crate) fn files(root: &Path, languages: &Languages, limits: &HelpLimits) -> io::Result<HelpFiles> {
    let mut found = HelpFiles::default();
    if fs::metadata(root)?.is_dir() {
        HelpFileWalk { root, languages, limits, found: &mut found }.folder(root, 0)?;
    } else {
        found.paths.push(root.to_owned());
    }
    Ok(found)
}

struct HelpFileWalk<'a> {
    root: &'a Path,
    languages: &'a Languages,
    limits: &'a HelpLimits,
    found: &'a mut HelpFiles,
}

impl HelpFileWalk<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) -> io::Result<()> {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(folder)?.take(ENTRIES_MAX).flatten().map(|entry| entry.path()).collect();
        entries.sort_unstable();
        let other = self.other_languages(&entries);
        for path in entries {
            if self.found.left_out.is_some() {
                return Ok(());
            }
            if other.contains(&path) {
                continue;
            }
            self.entry(path, depth);
        }
        Ok(())
    }

    fn entry(&mut self, path: PathBuf, depth: usize) {
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) => return self.skip(path, &error),
        };
        if metadata.is_dir() {
            if depth >= self.limits.depth_max {
                return self.skip(path, &format!("it is more than {} folders deep", self.limits.depth_max));
            }
            if let Err(error) = self.folder(&path, depth + 1) {
                self.skip(path, &error);
            }
            return;
        }
        if !is_help(&name(&path)) {
            return;
        }
        if metadata.is_symlink() {
            return self.link(path);
        }
        if metadata.is_file() {
            self.file(path, metadata.len());
        }
    }

    /// No link is followed: what it leads to inside of the source is there under its own name.
    fn link(&mut self, path: PathBuf) {
        match fs::canonicalize(&path) {
            Ok(target) if target.starts_with(self.root) => {}
            Ok(_) => self.skip(path, &"it is a link that leads out of the source"),
            Err(error) => self.skip(path, &error),
        }
    }

    fn file(&mut self, path: PathBuf, bytes: u64) {
        if bytes > self.limits.file_bytes_max {
            let limit = self.limits.file_bytes_max;
            return self.skip(path, &format!("it has {bytes} bytes, and {limit} is the limit"));
        }
        if self.found.paths.len() >= self.limits.files_max {
            self.found.left_out = Some(format!("all files after the first {}", self.limits.files_max));
        } else if self.found.bytes.saturating_add(bytes) > self.limits.total_bytes_max {
            self.found.left_out = Some(format!("all files after the first {} bytes", self.found.bytes));
        } else {
            self.found.bytes += bytes;
            self.found.paths.push(path);
        }
    }

    fn skip(&mut self, path: PathBuf, reason: &dyn ToString) {
        if self.found.skipped.len() < SKIPPED_MAX {
            self.found.skipped.push(SkippedHelpFile { path, reason: reason.to_string() });
        }
    }

    /// The folders of languages that are not wanted, if there are folders for several languages here.
    fn other_languages(&self, entries: &[PathBuf]) -> Vec<PathBuf> {
        let folders: Vec<(&PathBuf, String)> = entries
            .iter()
            .map(|path| (path, name(path)))
            .filter(|(path, name)| is_language(name) && path.is_dir())
            .collect();
        let names: Vec<&str> = folders.iter().map(|(_, name)| name.as_str()).collect();
        let has_manuals = entries.iter().any(|path| name(path) == "man1");
        let is_untranslated = names.iter().any(|name| *name == "C" || name.starts_with("en"));
        if names.len() < 2 && !is_untranslated && !has_manuals {
            return Vec::new();
        }
        let chosen = self.languages.choose(&names);
        let others = folders.iter().filter(|(_, name)| chosen != Some(name.as_str()));
        others.map(|(path, _)| (*path).clone()).collect()
    }
}

/// The last part of a path.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The ending of a name in lower case.
pub(crate) fn ending(name: &str) -> String {
    name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).unwrap_or_default()
}

/// Returns `true` if an ending is that of a man page: `1`, `3pm`, `8`.
pub(crate) fn is_section(ending: &str) -> bool {
    let mut characters = ending.chars();
    characters.next().is_some_and(|c| ('1'..='9').contains(&c))
        && ending.len() <= 5
        && characters.all(|c| c.is_ascii_alphabetic())
}

/// Returns `true` if a file may have help, by its name.
fn is_help(name: &str) -> bool {
    let lower = name.to_lowercase();
    let bare = lower.strip_suffix(".gz").unwrap_or(&lower);
    if bare.starts_with('.') || NO_HELP.iter().any(|start| bare.starts_with(start)) {
        return false;
    }
    let ending = ending(bare);
    // `libx.so.1.2` is a version, `x.conf.5` a page.
    let stem = bare.get(..bare.len().saturating_sub(ending.len() + 1)).unwrap_or_default();
    let is_version = self::ending(stem).chars().all(|c| c.is_ascii_digit()) && stem.contains('.');
    ENDINGS.contains(&ending.as_str()) || (is_section(&ending) && !is_version) || bare.starts_with("readme")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_recognised_by_name() {
        for name in [
            "a.page",
            "ls.1.gz",
            "x.3pm",
            "README",
            "README.Debian.gz",
            "Guide.HTML",
            "manual.pdf",
            "a.md.gz",
        ] {
            assert!(is_help(name), "{name}");
        }
        for name in [
            "copyright",
            "changelog.Debian.gz",
            "a.png",
            "libx.so.1.2",
            ".hidden.md",
            "a.js",
            "NEWS.gz",
            "a.10",
        ] {
            assert!(!is_help(name), "{name}");
        }
    }
}
