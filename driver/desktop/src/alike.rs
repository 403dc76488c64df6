//! Comparison of two OCR readings that may be of the same text, given that letters are sometimes misread.

/// The least share of equal letters in two readings of the same text.
const ALIKE: f64 = 0.7;
/// With a smaller share of equal letters, two readings are certainly of different texts.
const UNLIKE: f64 = 0.5;

/// A text without case, spaces and punctuation, with similar-looking letters unified.
pub fn essence(text: &str) -> String {
    text.chars()
        .filter(|letter| letter.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .map(|letter| match letter {
            '0' => 'o',
            '1' | 'i' | '|' => 'l',
            '5' => 's',
            '8' => 'b',
            other => other,
        })
        .collect()
}

/// Returns `true` if two readings may be of the same text.
pub fn alike(one: &str, other: &str) -> bool {
    let (first, second) = (essence(one), essence(other));
    if first.is_empty() && second.is_empty() {
        // Signs, such as those of a calculator.
        return one == other;
    }
    first == second || strsim::normalized_levenshtein(&first, &second) >= ALIKE
}

/// Returns `true` if `words` occur in `text`, apart from a few misread letters.
pub fn occurs(words: &str, text: &str) -> bool {
    let (words, text) = (essence(words), essence(text));
    if words.is_empty() || text.contains(&words) {
        return true;
    }
    // Longest first: a part of `text` as long as the words, anywhere.
    let letters: Vec<char> = text.chars().collect();
    let length = words.chars().count();
    if length < 4 || letters.len() < length {
        return strsim::normalized_levenshtein(&words, &text) >= ALIKE;
    }
    letters.windows(length).any(|part| {
        let part: String = part.iter().collect();
        strsim::normalized_levenshtein(&words, &part) >= ALIKE
    })
}

/// Returns `true` if an area certainly reads differently than before, so that it proves a change: different numbers, or words
/// with little in common. What may be a misread letter does not count.
pub fn reads_otherwise(before: &str, now: &str) -> bool {
    let numbers = |text: &str| -> Vec<String> {
        let is_number = |word: &&str| word.chars().all(|letter| letter.is_ascii_digit());
        text.split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .filter(is_number)
            .map(str::to_owned)
            .collect()
    };
    let (one, other) = (numbers(before), numbers(now));
    if one.len() == other.len() && one != other && alike(before, now) {
        return true;
    }
    let (before, now) = (essence(before), essence(now));
    if now.chars().count() < 2 || before.contains(&now) || now.contains(&before) {
        return false;
    }
    strsim::normalized_levenshtein(&before, &now) < UNLIKE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misread_letters_do_not_make_a_text_different() {
        for (one, other) in
            [("Save", "Sawe"), ("Open File", "0pen FiIe"), ("Volume", "Volume:"), ("OK", "ok")]
        {
            assert!(alike(one, other), "{one} {other}");
            assert!(!reads_otherwise(one, other), "{one} {other}");
        }
        for (one, other) in [("Save", "Print"), ("Yes", "No"), ("Row 1", "Column")] {
            assert!(!alike(one, other), "{one} {other}");
            assert!(reads_otherwise(one, other), "{one} {other}");
        }
    }

    #[test]
    fn different_numbers_count_but_parts_and_garbage_do_not() {
        assert!(reads_otherwise("Counted 3", "Counted 4"));
        assert!(!reads_otherwise("Counted 3", "Counted"));
        assert!(!reads_otherwise("Save", "S"));
        assert!(!reads_otherwise("Save", "—"));
        assert!(!reads_otherwise("Save as", "Save"));
        assert!(!reads_otherwise("B1", "81"));
    }

    #[test]
    fn words_are_found_within_a_text() {
        assert!(occurs("quick brwn fox", "The quick brown fox jumps"));
        assert!(occurs("100%", "Zoom 100%"));
        assert!(!occurs("Print", "Save and close"));
        assert!(!occurs("OK", "Cancel"));
    }
}
