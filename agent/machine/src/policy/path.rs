//! Paths of files as rules compare them.

use serde::{Deserialize, Serialize};

use super::origin::has_words;

/// Folders that paths are relative to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PathRoots {
    /// The home folder, which `~` stands for. Absolute.
    pub home: String,
    /// The folder that relative paths are read in. Absolute.
    pub folder: String,
    /// Folders whose files are run without being opened: those that programs are looked for in, and our own configuration.
    /// Absolute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
}

impl PathRoots {
    /// Returns `true` if nothing is known.
    pub(crate) const fn is_unknown(&self) -> bool {
        self.home.is_empty() && self.folder.is_empty() && self.programs.is_empty()
    }

    /// A path as rules compare it: absolute, without `.`, `..` and doubled separators, as far as the text tells. Links are followed
    /// by who opens the file. A `file:` address is its path. `None` for another address.
    pub fn absolute(&self, path: &str) -> Option<String> {
        let path = path.trim();
        if let Some((scheme, _)) = path.split_once("://")
            && !scheme.is_empty()
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        {
            let url = url::Url::parse(path).ok().filter(|url| url.scheme() == "file")?;
            return Some(lexical(&url.to_file_path().ok()?.to_string_lossy()));
        }
        Some(lexical(&self.expanded(path)))
    }

    /// A pattern with `~` for the home folder.
    pub fn pattern(&self, pattern: &str) -> String {
        pattern.split('|').map(|one| self.home_in(one.trim())).collect::<Vec<_>>().join("|")
    }

    /// Returns `true` if a file with a name that a person said is the one that they mean: in the folder of the session or of the open document, or
    /// in one that they named.
    pub(super) fn is_meant(&self, path: &str, document: Option<&str>, said: &[&str]) -> bool {
        let folder = folder_of(path);
        let is_said = |word: &str| {
            let place = self.absolute(word);
            place.is_some_and(|place| place == path || place == folder || folder_of(&place) == folder)
        };
        let name = folder.rsplit('/').next().unwrap_or_default();
        [Some(self.folder.as_str()), document.map(folder_of)].contains(&Some(folder))
            || said.iter().any(|said| {
                has_words(said, name) || words(said).any(|word| word.contains('/') && is_said(word))
            })
    }

    fn expanded(&self, path: &str) -> String {
        let path = self.home_in(path);
        if path.starts_with('/') { path } else { format!("{}/{path}", self.folder) }
    }

    fn home_in(&self, path: &str) -> String {
        match path.strip_prefix('~') {
            Some(rest) if !self.home.is_empty() && (rest.is_empty() || rest.starts_with('/')) => {
                format!("{}{rest}", self.home)
            }
            _ => path.to_owned(),
        }
    }
}

/// The folder that a file is in.
fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The words of a text, without quotes and the punctuation after them.
fn words(said: &str) -> impl Iterator<Item = &str> {
    let quotes = |c: char| c.is_whitespace() || "\"'`“”„‘’«»<>()".contains(c);
    said.split(quotes)
        .map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?']))
        .filter(|word| !word.is_empty())
}

/// An absolute path without `.`, `..` and doubled separators.
fn lexical(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_by_what_they_name() {
        let places =
            PathRoots { home: "/home/ada".to_owned(), folder: "/work".to_owned(), ..PathRoots::default() };
        #[track_caller]
        fn check(places: &PathRoots, path: &str, absolute: Option<&str>) {
            assert_eq!(places.absolute(path).as_deref(), absolute, "{path}");
        }
        check(&places, "notes.txt", Some("/work/notes.txt"));
        check(&places, "./a/../../etc//passwd", Some("/etc/passwd"));
        check(&places, "~/a.txt", Some("/home/ada/a.txt"));
        check(&places, "~", Some("/home/ada"));
        check(&places, "~ada/a.txt", Some("/work/~ada/a.txt"));
        check(&places, "file:///etc/%70asswd", Some("/etc/passwd"));
        check(&places, "FILE:///etc/../etc/a%20b", Some("/etc/a b"));
        check(&places, "/../etc", Some("/etc"));
        check(&places, "https://example.org/a", None);
        check(&places, "/a/x://y", Some("/a/x:/y"));
        let meant = |path: &str, said: &str| places.is_meant(path, Some("/data/a.txt"), &[said]);
        for (path, said) in [
            ("/work/report.txt", "Make a report.txt"),
            ("/data/report.txt", "Make a report.txt"),
            ("/home/ada/report.txt", "Make ~/report.txt."),
            ("/home/ada/old/report.txt", "Save it as 'report.txt' beside ~/old/notes.txt"),
            ("/home/ada/old/report.txt", "Save report.txt in ~/old"),
            ("/home/ada/old/report.txt", "Save report.txt in the folder old"),
        ] {
            assert!(meant(path, said), "{path}: {said}");
        }
        for (path, said) in [
            ("/home/ada/old/report.txt", "Make a report.txt"),
            ("/report.txt", "Make a report.txt"),
            ("/report.txt", ""),
            ("/home/ada/old/report.txt", "Save ~/report.txt"),
            ("/home/ada/old/report.txt", "Save report.txt and hold it"),
        ] {
            assert!(!meant(path, said), "{path}: {said}");
        }
        assert_eq!(places.pattern("~/.ssh/*|/etc/*"), "/home/ada/.ssh/*|/etc/*");
    }
}
