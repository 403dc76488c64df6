//! The languages that help is wanted in.

use std::env;

/// The variables that name the language of messages, the strongest first.
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_MESSAGES", "LANG"];
/// Languages of help that is not translated.
const UNTRANSLATED: [&str; 4] = ["C", "en", "en-US", "en_US"];
/// Languages that have two letters and help. A folder `db` or `js` is none.
const KNOWN: &str = "af am ar as ast az be bg bn br bs ca ckb cs csb cy da de dz el en eo es et eu fa fi fo fr fur fy ga gd gl gu he hi hr \
hsb hu hy ia id is it ja ka kab kk km kmr kn ko ku ky la lb lo lt lv mai mk ml mn mr ms my nb nds ne nl nn oc om or pa pl ps pt ro ru \
rw sa sat sd si sk sl sq sr sv sw szl ta te tg th ti tl tr tt ug uk ur uz vec vi wa xh zh zu";

/// The languages that help is wanted in, the most wanted first. The last one is always English.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Languages {
    names: Vec<String>,
}

impl Languages {
    /// From a locale such as `de_AT.UTF-8`: `de_AT`, `de`, then English.
    #[must_use]
    pub fn of_locale(locale: &str) -> Self {
        let name = locale.split(['.', '@']).next().unwrap_or_default().replace('-', "_");
        let mut names = Vec::new();
        if !name.is_empty() && name != "C" && name != "POSIX" {
            if let Some((language, _)) = name.split_once('_') {
                names.push(name.clone());
                names.push(language.to_owned());
            } else {
                names.push(name);
            }
        }
        names.extend(UNTRANSLATED.map(ToOwned::to_owned));
        names.dedup();
        Self { names }
    }

    /// From the locale of this process.
    #[must_use]
    pub fn of_environment() -> Self {
        let set = |name: &&str| env::var(name).ok().filter(|value| !value.is_empty());
        Self::of_locale(&VARIABLES.iter().find_map(set).unwrap_or_default())
    }

    /// The names that folders of these languages may have, the most wanted first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The most wanted of these folders of languages.
    pub(crate) fn choose<'a>(&self, folders: &[&'a str]) -> Option<&'a str> {
        let same = |folder: &str, name: &str| folder.replace('-', "_") == name.replace('-', "_");
        self.names.iter().find_map(|name| folders.iter().find(|folder| same(folder, name)).copied())
    }
}

/// Returns `true` if a folder has the name of a language, such as `de`, `pt_BR`, `sr@latin` or `C`.
pub(crate) fn is_language(folder: &str) -> bool {
    let mut parts = folder.split(['_', '-', '@']);
    let language = parts.next().unwrap_or_default();
    let is_known = language == "C" || KNOWN.split(' ').any(|known| known == language);
    let is_region = |part: &str| {
        let is_short = part.len() == 2 && part.chars().all(|c| c.is_ascii_uppercase());
        is_short || ["latin", "cyrillic", "valencia", "Latn", "Hans", "Hant"].contains(&part)
    };
    is_known && parts.all(is_region)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_are_read() {
        let check = |locale: &str, expected: &[&str]| {
            assert_eq!(Languages::of_locale(locale).names().collect::<Vec<_>>(), expected, "{locale}");
        };
        check("de_AT.UTF-8", &["de_AT", "de", "C", "en", "en-US", "en_US"]);
        check("fr", &["fr", "C", "en", "en-US", "en_US"]);
        check("C.UTF-8", &["C", "en", "en-US", "en_US"]);
        check("", &["C", "en", "en-US", "en_US"]);
    }

    #[test]
    fn folders_of_languages_are_told_apart() {
        for name in ["C", "de", "pt_BR", "en-US", "sr@latin", "zh_CN", "ca@valencia"] {
            assert!(is_language(name), "{name}");
        }
        for name in ["js", "css", "figures", "man1", "db", "html", "de_x", "c"] {
            assert!(!is_language(name), "{name}");
        }
    }

    #[test]
    fn the_wanted_language_is_chosen() {
        let languages = Languages::of_locale("pt_BR.UTF-8");
        assert_eq!(languages.choose(&["C", "de", "pt", "pt_BR"]), Some("pt_BR"));
        assert_eq!(languages.choose(&["en-US", "pt-BR"]), Some("pt-BR"));
        assert_eq!(languages.choose(&["C", "de", "pt"]), Some("pt"));
        assert_eq!(languages.choose(&["de", "en-US"]), Some("en-US"));
        assert_eq!(languages.choose(&["de", "fr"]), None);
    }
}
