//! Which document a window shows, as its title says.

use serde::{Deserialize, Serialize};

/// The document of a window.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DocumentInfo {
    /// The name that the application shows: of a file, or such as `Untitled 1`.
    pub name: String,
    /// Its file, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `true` if it has unsaved changes; `None` if the application shows no mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<bool>,
}

/// The marks of unsaved changes before a name.
const PREFIXES: &[&str] = &["*", "•", "●", "[*]", "[+]"];
/// The marks after a name, in lower case.
const SUFFIXES: &[&str] =
    &["*", "•", "●", "[+]", "[modified]", "(modified)", "[*]", "[changed]", "- modified"];
/// Separators between the name of a document and that of its application.
const SEPARATORS: &[&str] = &[" - ", " — ", " – "];

impl DocumentInfo {
    /// The document that a title names; `None` if it names none. An unmarked name counts as a document only if it looks like a
    /// file: `sales.odt - LibreOffice Writer`, `*~/a/notes.txt - Mousepad`, `notes.txt (~/a) - gedit`, `jEdit - notes.txt`.
    pub fn of_title(title: &str) -> Option<Self> {
        let (title, before) = without_prefix(title.trim());
        let (head, rest) = SEPARATORS
            .iter()
            .filter_map(|separator| title.split_once(separator))
            .min_by_key(|(head, _)| head.len())
            .unwrap_or((title, ""));
        let (head, after) = without_suffix(head);
        let tail =
            SEPARATORS.iter().find_map(|separator| rest.split_once(separator)).map_or("", |parts| parts.0);
        let modified = before || after || ["modified", "*"].contains(&tail.trim().to_lowercase().as_str());
        let (name, folder) = match head.strip_suffix(')').and_then(|head| head.rsplit_once(" (")) {
            Some((name, folder)) if folder.starts_with(['/', '~']) => (name, Some(folder)),
            _ => (head, None),
        };
        let name = name.trim();
        let path = match folder {
            Some(folder) => Some(format!("{}/{name}", folder.trim_end_matches('/'))),
            None => name.starts_with(['/', '~']).then(|| name.to_owned()),
        };
        if name.is_empty() || !(modified || path.is_some() || is_file_name(name)) {
            return after_application(rest);
        }
        let name = name.rsplit('/').next().unwrap_or(name).to_owned();
        Some(Self { name, path, modified: modified.then_some(true) })
    }

    /// Returns `true` if a title has a mark of unsaved changes.
    pub fn has_mark(title: &str) -> bool {
        Self::of_title(title).is_some_and(|document| document.modified == Some(true))
    }

    /// Returns `true` if a title differs from the one before only by a mark of unsaved changes that it got.
    pub fn only_gets_modified(before: &str, now: &str) -> bool {
        Self::has_mark(now) && !Self::has_mark(before) && letters(before) == letters(now)
    }
}

/// The document that the last part of a title names: `jEdit - notes.txt (modified)`. No version: `Untitled - Editor 7.4`.
fn after_application(last: &str) -> Option<DocumentInfo> {
    let (name, marked) = without_suffix(last);
    let is_word = |name: &str| {
        name.rsplit_once('.').is_some_and(|(_, extension)| extension.starts_with(char::is_alphabetic))
    };
    let is_last = SEPARATORS.iter().all(|separator| !name.contains(separator));
    (is_last && is_file_name(name) && is_word(name)).then(|| DocumentInfo {
        name: name.trim().to_owned(),
        path: None,
        modified: marked.then_some(true),
    })
}

/// The letters and digits of a title without marks.
fn letters(title: &str) -> String {
    let title = title.to_lowercase();
    let words = SUFFIXES.iter().fold(title, |title, mark| title.replace(mark, ""));
    words.chars().filter(|one| one.is_alphanumeric()).collect()
}

fn without_prefix(title: &str) -> (&str, bool) {
    let found = PREFIXES.iter().find_map(|mark| title.strip_prefix(mark));
    (found.unwrap_or(title).trim_start(), found.is_some())
}

fn without_suffix(head: &str) -> (&str, bool) {
    let head = head.trim_end();
    let ends = |mark: &&&str| {
        let at = head.len().checked_sub(mark.len());
        at.and_then(|at| head.get(at..)).is_some_and(|end| end.to_lowercase() == **mark)
    };
    match SUFFIXES.iter().find(ends) {
        Some(mark) => (head.get(..head.len() - mark.len()).unwrap_or(head).trim_end(), true),
        None => (head, false),
    }
}

/// Returns `true` if a name ends with an extension: `report.odt`, `Makefile.am`.
fn is_file_name(name: &str) -> bool {
    /// The longest extension, in characters.
    const EXTENSION_MAX: usize = 8;
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        let fits = (1..=EXTENSION_MAX).contains(&extension.chars().count());
        !stem.is_empty() && fits && extension.chars().all(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(title: &str, expected: Option<(&str, Option<&str>, Option<bool>)>) {
        let expected = expected.map(|(name, path, modified)| DocumentInfo {
            name: name.to_owned(),
            path: path.map(str::to_owned),
            modified,
        });
        assert_eq!(DocumentInfo::of_title(title), expected, "{title}");
    }

    #[test]
    fn a_mark_that_comes_is_told_from_another_title() {
        let gets = DocumentInfo::only_gets_modified;
        assert!(gets("notes.txt - Mousepad", "*notes.txt - Mousepad"));
        assert!(gets("Fixture teeth", "*Fixture teeth"));
        assert!(gets("notes.txt — KWrite", "notes.txt [modified] — KWrite"));
        assert!(gets("notes.txt - Editor", "notes.txt - Modified - Editor"));
        assert!(!gets("*notes.txt - Mousepad", "notes.txt - Mousepad"), "it went");
        assert!(!gets("notes.txt - Mousepad", "*other.txt - Mousepad"));
        assert!(!gets("notes.txt - Mousepad", "notes.txt - Mousepad"));
    }

    #[test]
    fn titles_name_documents_and_unsaved_changes() {
        check("sales.odt - LibreOffice Writer", Some(("sales.odt", None, None)));
        check("*/tmp/a b/notes.txt - Mousepad", Some(("notes.txt", Some("/tmp/a b/notes.txt"), Some(true))));
        check("~/notes.txt - Mousepad", Some(("notes.txt", Some("~/notes.txt"), None)));
        check("notes.txt (~/docs) - gedit", Some(("notes.txt", Some("~/docs/notes.txt"), None)));
        check("*Untitled 1 - Mousepad", Some(("Untitled 1", None, Some(true))));
        check("notes.txt * — Kate", Some(("notes.txt", None, Some(true))));
        check("notes.txt [modified] — KWrite", Some(("notes.txt", None, Some(true))));
        check("notes.txt - Modified - Editor", Some(("notes.txt", None, Some(true))));
        check("● main.rs - project - Visual Studio Code", Some(("main.rs", None, Some(true))));
        check(
            "*[drawing] (imported)-1.0 (RGB color) – GIMP",
            Some(("[drawing] (imported)-1.0 (RGB color)", None, Some(true))),
        );
        check("jEdit - notes.txt", Some(("notes.txt", None, None)));
        check("jEdit - notes.txt (modified)", Some(("notes.txt", None, Some(true))));
        check("Untitled 1 - LibreOffice 7.4", None);
        check("Inbox - notes.txt - Mail", None);
        check("Untitled 1 - LibreOffice Writer", None);
        check("Preferences", None);
        check("", None);
    }
}
