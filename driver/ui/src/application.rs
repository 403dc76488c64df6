//! Installed applications.

use serde::{Deserialize, Serialize};

/// Words that people put before or after the name of an application, and that say nothing about which one it is: who makes it, and that
/// it is an application.
const SAID_BESIDE: &[&str] = &[
    "a",
    "an",
    "apache",
    "app",
    "application",
    "gnome",
    "gnu",
    "kde",
    "lxde",
    "lxqt",
    "mate",
    "mozilla",
    "program",
    "software",
    "the",
    "xfce",
];

/// An application that a person would start from a menu, as its desktop entry names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InstalledApplication {
    /// The id of the entry: `org.xfce.mousepad`.
    pub id: String,
    /// The display name: `Mousepad`.
    pub name: String,
    /// The file name of its program, if that alone means this application: `mousepad`. Else empty.
    pub program: String,
    /// Other names that mean this installed application and no other: `impress`, `spreadsheet`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

impl InstalledApplication {
    /// Returns `true` if a name means this application: its id, with or without `.desktop`, the last part of that, its display name,
    /// its program, or one of its other names, in any case; also with the word of its maker before it, as in `Mozilla Firefox`.
    pub fn is_named(&self, wanted: &str) -> bool {
        let wanted = wanted.trim();
        let wanted = wanted.strip_suffix(".desktop").unwrap_or(wanted).to_lowercase();
        let last = self.id.rsplit('.').next().unwrap_or(&self.id);
        let names = [self.id.as_str(), last, &self.name, &self.program];
        let also = self.also.iter().map(String::as_str);
        let mut named = names.into_iter().chain(also).filter(|name| !name.is_empty());
        let bare = bare_name(&wanted);
        named.any(|name| {
            let name = name.to_lowercase();
            name == wanted || name == bare
        })
    }
}

/// The words of a name, in lower case.
pub fn name_words(name: &str) -> Vec<String> {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// A name in lower case without the words that do not tell which application is meant; the whole name if nothing else is left.
/// A name of one word, or one that looks like a path or a command, stays as it is.
pub fn bare_name(name: &str) -> String {
    let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    let left: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !SAID_BESIDE.contains(word)).collect();
    if left.is_empty() { words.join(" ") } else { left.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_is_named_as_people_name_it() {
        let impress = InstalledApplication {
            id: "libreoffice-impress".to_owned(),
            name: "LibreOffice Impress".to_owned(),
            program: String::new(),
            also: vec!["impress".to_owned(), "presentation".to_owned()],
        };
        for name in ["Impress", "libreoffice impress", "the LibreOffice Impress app", "Presentation"] {
            assert!(impress.is_named(name), "{name}");
        }
        for name in ["", "the", "libreoffice", "GNU"] {
            assert!(!impress.is_named(name), "{name}");
        }
        assert_eq!(bare_name("Mozilla Firefox"), "firefox");
        assert_eq!(bare_name("GNU"), "gnu");
        assert_eq!(name_words("Emacs (GUI)"), ["emacs", "gui"]);
    }

    #[test]
    fn records_without_other_names_are_read() {
        let old = r#"{"id":"a","name":"A","program":"a"}"#;
        let read: InstalledApplication = serde_json::from_str(old).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), old);
    }
}
