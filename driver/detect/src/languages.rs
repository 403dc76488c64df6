//! Languages that a PP-OCR model reads.

use deskhand_local_client::protocol::Letters;

/// Languages that PP-OCR reads beside those with Latin letters, as `tesseract` names them.
const OTHERS: [&str; 5] = ["chi_sim", "chi_tra", "jpn", "chi_sim_vert", "jpn_vert"];
/// Languages with Latin letters, as `tesseract` names them.
const LATIN: [&str; 44] = [
    "afr", "bos", "cat", "ces", "cym", "dan", "deu", "eng", "epo", "est", "eus", "fin", "fra", "gle", "glg",
    "hrv", "hun", "ind", "isl", "ita", "lat", "lav", "lit", "ltz", "mlt", "mri", "msa", "nld", "nor", "oci",
    "pol", "por", "que", "ron", "slk", "slv", "spa", "sqi", "srp_latn", "swa", "swe", "tur", "uzb", "frk",
];

/// The letters of languages, as `tesseract` names them, joined by `+`.
pub(crate) fn letters_of(languages: &str) -> Letters {
    if languages.split('+').any(|language| OTHERS.contains(&language)) {
        Letters::All
    } else {
        Letters::Latin
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
        assert_eq!(letters_of("eng+deu"), Letters::Latin);
        assert_eq!(letters_of("eng+jpn"), Letters::All);
        assert_eq!(unread_language("eng+rus+ara"), Some("rus"));
        assert_eq!(unread_language("deu+chi_sim"), None);
    }
}
