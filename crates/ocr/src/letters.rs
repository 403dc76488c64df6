//! Which letters a text may have, by language.

/// Languages that PP-OCR reads beside those with Latin letters, as `tesseract` names them.
const OTHERS: [&str; 5] = ["chi_sim", "chi_tra", "jpn", "chi_sim_vert", "jpn_vert"];
/// Languages with Latin letters, as `tesseract` names them.
const LATIN: [&str; 44] = [
    "afr", "bos", "cat", "ces", "cym", "dan", "deu", "eng", "epo", "est", "eus", "fin", "fra", "gle", "glg",
    "hrv", "hun", "ind", "isl", "ita", "lat", "lav", "lit", "ltz", "mlt", "mri", "msa", "nld", "nor", "oci",
    "pol", "por", "que", "ron", "slk", "slv", "spa", "sqi", "srp_latn", "swa", "swe", "tur", "uzb", "frk",
];

/// The letters that are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Letters {
    /// Latin letters with all their marks, digits and signs: what is drawn as a sign is not taken for a Chinese letter.
    #[default]
    Latin,
    /// All that the model knows.
    All,
}

impl Letters {
    /// The letters of languages, as `tesseract` names them, joined by `+`.
    pub fn of(languages: &str) -> Self {
        if languages.split('+').any(|language| OTHERS.contains(&language)) { Self::All } else { Self::Latin }
    }

    /// Whether a letter is among them.
    pub(crate) fn has(self, letter: char) -> bool {
        match self {
            Self::All => true,
            // Latin with its extensions, signs, currencies, arrows, and symbols up to the dingbats.
            Self::Latin => {
                matches!(letter, '\u{20}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{2010}'..='\u{27bf}')
            }
        }
    }
}

/// The first of the languages, as `tesseract` names them, that PP-OCR does not read; `None` if it reads all.
pub fn unread_language(languages: &str) -> Option<&str> {
    languages.split('+').find(|language| !LATIN.contains(language) && !OTHERS.contains(language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_follow_from_languages() {
        assert_eq!(Letters::of("eng+deu"), Letters::Latin);
        assert_eq!(Letters::of("eng+jpn"), Letters::All);
        assert!("aÄßéñçøłő0!€…–→✓".chars().all(|letter| Letters::Latin.has(letter)));
        assert!("口、я".chars().all(|letter| !Letters::Latin.has(letter)));
        assert_eq!(unread_language("eng+rus+ara"), Some("rus"));
        assert_eq!(unread_language("deu+chi_sim"), None);
    }
}
