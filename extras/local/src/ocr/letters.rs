//! Which letters a text may have.

use deskhand_local_client::protocol::Letters;

/// Returns `true` if a letter is among those that are looked for.
pub(crate) fn has(letters: Letters, letter: char) -> bool {
    match letters {
        Letters::All => true,
        // Latin with its extensions, signs, currencies, arrows, and symbols up to the dingbats.
        Letters::Latin => {
            matches!(letter, '\u{20}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{2010}'..='\u{27bf}')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_latin_and_chinese_letters_are_not() {
        assert!("aÄßéñçøłő0!€…–→✓".chars().all(|letter| has(Letters::Latin, letter)));
        assert!("口、я".chars().all(|letter| !has(Letters::Latin, letter) && has(Letters::All, letter)));
    }
}
