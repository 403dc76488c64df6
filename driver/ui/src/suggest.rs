//! Suggestions: the known names that are most like one that does not exist.
//!
//! Names are compared without case by their Jaro-Winkler similarity, from 0 to 1, which weighs the beginning of a name
//! most: people and models abbreviate names, and swap letters late in a word.

use std::borrow::Borrow;

/// From this similarity on, one name is likely a misspelling of the other: good for "did you mean …?".
pub const LIKELY_MIN: f64 = 0.8;
/// The same for names that share an ending, such as files of one type.
pub const LIKELY_FILE_MIN: f64 = 0.85;
/// From this similarity on, a name is worth a place in a list that is shown best first.
pub const POSSIBLE_MIN: f64 = 0.6;

/// The similarity of two names without case, from 0 to 1.
pub fn similarity(one: &str, other: &str) -> f64 {
    strsim::jaro_winkler(&one.to_lowercase(), &other.to_lowercase())
}

/// The candidates whose similarity is at least `similarity_min`, best first; equal ones keep their order.
pub fn rank<T>(
    candidates: impl IntoIterator<Item = T>,
    similarity_min: f64,
    similarity: impl Fn(&T) -> f64,
) -> Vec<T> {
    let mut ranked: Vec<(f64, T)> = candidates
        .into_iter()
        .map(|candidate| (similarity(&candidate), candidate))
        .filter(|(similarity, _)| *similarity >= similarity_min)
        .collect();
    ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    ranked.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The known name that was [likely](LIKELY_MIN) meant.
pub fn nearest<N: Borrow<str>>(name: &str, known: impl IntoIterator<Item = N>) -> Option<N> {
    rank(known, LIKELY_MIN, |known| similarity(name, known.borrow())).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_recognised() {
        let tools = ["click_element", "type_text", "press_keys", "read_table", "select_cells"];
        let check = |name: &str, expected: Option<&str>| assert_eq!(nearest(name, tools), expected, "{name}");
        check("click", Some("click_element"));
        check("Click_Elemnet", Some("click_element"));
        check("press_key", Some("press_keys"));
        check("typetext", Some("type_text"));
        check("open_browser", None);
        check("", None);
    }

    #[test]
    fn candidates_are_ranked_and_equal_ones_keep_their_order() {
        let check = |minimum: f64, expected: &[&str]| {
            let found = rank(["Print", "save as", "Save", "SAVE"], minimum, |name| similarity("save", name));
            assert_eq!(found, expected, "{minimum}");
        };
        check(0.0, &["Save", "SAVE", "save as", "Print"]);
        check(POSSIBLE_MIN, &["Save", "SAVE", "save as"]);
        check(1.0, &["Save", "SAVE"]);
    }

    #[test]
    fn files_need_more_than_a_common_ending() {
        assert!(similarity("sales.ods", "sale.ods") >= LIKELY_FILE_MIN);
        assert!(similarity("sales.ods", "notes.ods") < LIKELY_FILE_MIN);
    }
}
