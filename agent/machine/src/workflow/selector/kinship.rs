//! Relation between two names: the same, related, opposite, or strangers.

use std::sync::LazyLock;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::concepts::{NEGATIONS, OPPOSITES, WIDER, concepts_of, mean_the_same};
use crate::{
    intent::Does,
    known_tools,
    policy::{Policy, PolicyDecision, Subject, TargetContext},
};
use deskhand_ui::fold_name;

/// Relation of a new name to an old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kinship {
    /// The same name.
    Same,
    /// The same word, in this or another language.
    Synonym,
    /// One has the words of the other, and further ones; or it is spelled a little differently.
    Related,
    /// Nothing in common.
    Stranger,
    /// The new name says the opposite, is negated, or reaches further.
    Opposed,
}

impl Kinship {
    /// Returns `true` if the new name itself speaks for the same element.
    pub(super) const fn is_close(self) -> bool {
        match self {
            Self::Same | Self::Synonym | Self::Related => true,
            Self::Stranger | Self::Opposed => false,
        }
    }
}

/// Minimum similarity of two words that are spelled differently, from 0 to 1.
const SPELLING_MIN: f64 = 0.93;
/// The shortest such word, in characters.
const SPELLING_CHARS_MIN: usize = 5;

/// Returns the relation of `new` to `old`.
pub(super) fn kinship(old: &str, new: &str) -> Kinship {
    let (old, new) = (fold_name(old), fold_name(new));
    if old == new || old.is_empty() && new.is_empty() {
        return Kinship::Same;
    }
    if old.is_empty() || new.is_empty() {
        return Kinship::Stranger;
    }
    let (known, knows) = (concepts_of(&old), concepts_of(&new));
    if mean_the_same(&old, &new) {
        return Kinship::Synonym;
    }
    if letters(&old) == letters(&new) {
        return Kinship::Related;
    }
    let (before, after) = (words(&old), words(&new));
    if are_opposed(&before, &after) {
        return Kinship::Opposed;
    }
    // Two words that are known to mean different things.
    if !known.is_empty() && !knows.is_empty() {
        return Kinship::Stranger;
    }
    let shared = before.iter().filter(|word| has(&after, word)).count();
    let fewer = before.len().min(after.len());
    let is_spelled_alike = old.chars().count() >= SPELLING_CHARS_MIN
        && strsim::jaro(&letters(&old), &letters(&new)) >= SPELLING_MIN;
    if fewer > 0 && shared == fewer || is_spelled_alike { Kinship::Related } else { Kinship::Stranger }
}

/// Returns `true` if a name in another language is known to mean something else.
pub(super) fn means_otherwise(old: &str, new: &str) -> bool {
    let (old, new) = (concepts_of(&fold_name(old)), concepts_of(&fold_name(new)));
    !old.is_empty() && !new.is_empty() && !old.iter().any(|one| new.contains(one))
}

/// Letters and digits without accents, lower case.
fn letters(name: &str) -> String {
    name.nfd().filter(|c| !is_combining_mark(*c) && c.is_alphanumeric()).collect()
}

fn words(name: &str) -> Vec<String> {
    let split = name.split(|c: char| !(c.is_alphanumeric() || c == '\''));
    split.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn has(words: &[String], word: &str) -> bool {
    let means = concepts_of(word);
    words.iter().any(|one| one == word || concepts_of(one).iter().any(|concept| means.contains(concept)))
}

/// Returns `true` if one of the names negates the other, reaches further, or says the opposite.
fn are_opposed(old: &[String], new: &[String]) -> bool {
    let only_old: Vec<&str> = old.iter().filter(|word| !new.contains(word)).map(String::as_str).collect();
    let only_new: Vec<&str> = new.iter().filter(|word| !old.contains(word)).map(String::as_str).collect();
    let one_has = |list: &[&str]| {
        only_old.iter().any(|word| list.contains(word)) != only_new.iter().any(|word| list.contains(word))
    };
    let is_pair = |one: &str, other: &str| {
        let listed = |pair: &&[&str; 2]| pair.contains(&one) && pair.contains(&other) && one != other;
        let undone = |one: &str, other: &str| {
            ["un", "dis", "de", "non"].iter().any(|prefix| one.strip_prefix(prefix) == Some(other))
        };
        OPPOSITES.iter().any(|pair| listed(&pair)) || undone(one, other) || undone(other, one)
    };
    one_has(NEGATIONS)
        || one_has(WIDER)
        || only_old.iter().any(|one| only_new.iter().any(|other| is_pair(one, other)))
}

/// Verdict of the safe guard on pressing something with a name: alone, in a question before data is deleted,
/// and in one before changes are lost. Labels are recognised in many languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PressRisk([bool; 3]);

impl PressRisk {
    pub(super) fn of(name: &str) -> Self {
        Self(
            [
                &[][..],
                &["Delete the file permanently?"],
                &["Save the changes? Unsaved changes will be lost."],
            ]
            .map(|texts| {
                static POLICY: LazyLock<Policy> = LazyLock::new(Policy::default);
                let subject = Subject {
                    tool: known_tools::CLICK.to_owned(),
                    does: Does::Press,
                    labels: vec![name.to_owned()],
                    surroundings: TargetContext {
                        texts: texts.iter().map(|text| (*text).to_owned()).collect(),
                        ..TargetContext::default()
                    },
                    ..Subject::default()
                };
                POLICY.decide(&subject).decision != PolicyDecision::Allow
            }),
        )
    }

    /// Returns `true` if the safe guard asks before it is pressed, wherever it stands.
    pub(super) const fn is_guarded(self) -> bool {
        let Self([alone, _, _]) = self;
        alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_related_by_words_and_opposed_by_meaning() {
        use Kinship::{Opposed, Related, Same, Stranger, Synonym};
        for (old, new, expected) in [
            ("_Save", "Save…", Same),
            ("Save", "Speichern", Synonym),
            ("Search", "Find", Synonym),
            ("Save", "Save file", Related),
            ("Colour", "Color", Related),
            ("Résumé", "Resume", Related),
            ("Save", "Don't save", Opposed),
            ("Delete", "Delete all", Opposed),
            ("Zoom in", "Zoom out", Opposed),
            ("Lock", "Unlock", Opposed),
            ("Import", "Export", Opposed),
            ("Save", "Öffnen", Stranger),
            ("Archive", "Report spam", Stranger),
            ("First name", "Last name", Opposed),
        ] {
            assert_eq!(kinship(old, new), expected, "{old} → {new}");
        }
    }

    #[test]
    fn the_weight_of_a_name_is_that_of_the_safe_guard() {
        assert!(PressRisk::of("Delete").is_guarded() && PressRisk::of("Löschen").is_guarded());
        assert!(!PressRisk::of("Export").is_guarded());
        assert_eq!(PressRisk::of("Cancel"), PressRisk::of("Abbrechen"));
        assert_ne!(PressRisk::of("OK"), PressRisk::of("Cancel"));
        assert_ne!(PressRisk::of("Save"), PressRisk::of("Don't Save"));
    }
}
