//! Paths of files as rules compare them.

use serde::{Deserialize, Serialize};

/// What paths are relative to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Places {
    /// The home folder, which `~` stands for. Absolute.
    pub home: String,
    /// The folder that relative paths are read in. Absolute.
    pub folder: String,
    /// Folders whose files are run without being opened: those that programs are looked for in, and our own configuration.
    /// Absolute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
}

impl Places {
    /// Whether nothing is known.
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
        let places = Places { home: "/home/ada".to_owned(), folder: "/work".to_owned(), ..Places::default() };
        #[track_caller]
        fn check(places: &Places, path: &str, absolute: Option<&str>) {
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
        assert_eq!(places.pattern("~/.ssh/*|/etc/*"), "/home/ada/.ssh/*|/etc/*");
    }
}
