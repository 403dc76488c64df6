//! More labels of what usually cannot be undone, besides those of [`labels`](super::labels).

use serde::{Deserialize, Serialize};

use super::labels::{DELETES_ALL, PERILS, Peril};
use crate::policy::looks::Alike;
use deskhand_ui::pattern::folded;

/// Labels that the safe guard asks about, by what they bring about: patterns, as in rules. They only add to those that it knows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SafeGuardLabels {
    /// Data is deleted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deletes: Vec<String>,
    /// Changes that were not saved are lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub discards: Vec<String>,
    /// Data is replaced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overwrites: Vec<String>,
    /// Something goes to others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sends: Vec<String>,
    /// The computer's session ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends_session: Vec<String>,
}

impl SafeGuardLabels {
    /// The most labels for one peril.
    pub const LABELS_MAX: usize = 200;
    /// The shortest label, in characters: one character is a word in some languages.
    const LABEL_CHARS_MIN: usize = 1;

    /// The longest label, in characters.
    const LABEL_CHARS_MAX: usize = 40;

    /// Adds the translation of a label, if the label is one that is asked about. What may be no label is left out: what is empty or
    /// long, has several lines, or would be a pattern.
    pub fn learn(&mut self, label: &str, translation: &str) {
        let label = folded(label);
        let known = PERILS.iter().find(|(_, known)| known.have(&label)).map(|(peril, _)| *peril);
        let Some(peril) = known.or_else(|| DELETES_ALL.have(&label).then_some(Peril::Deletes)) else {
            return;
        };
        let translation = translation.trim();
        let chars = translation.chars().count();
        let is_letter = translation.chars().any(char::is_alphabetic);
        let is_label = (Self::LABEL_CHARS_MIN..=Self::LABEL_CHARS_MAX).contains(&chars) && is_letter;
        if !is_label || translation.contains(['*', '?', '|']) || translation.chars().any(char::is_control) {
            return;
        }
        let list = match peril {
            Peril::Deletes => &mut self.deletes,
            Peril::Discards => &mut self.discards,
            Peril::Overwrites => &mut self.overwrites,
            Peril::Sends => &mut self.sends,
            Peril::EndsSession => &mut self.ends_session,
        };
        let is_known = PERILS.iter().any(|(_, known)| known.have(&folded(translation)));
        if list.len() < Self::LABELS_MAX && !is_known && !list.iter().any(|one| one == translation) {
            list.push(translation.to_owned());
        }
    }

    /// Returns `true` if there are none.
    pub const fn is_empty(&self) -> bool {
        self.deletes.is_empty()
            && self.discards.is_empty()
            && self.overwrites.is_empty()
            && self.sends.is_empty()
            && self.ends_session.is_empty()
    }

    /// Returns the peril that a label announces.
    pub(super) fn peril(&self, looks: &dyn Fn(&Alike) -> bool) -> Option<Peril> {
        let lists = [
            (Peril::Deletes, &self.deletes),
            (Peril::Discards, &self.discards),
            (Peril::Overwrites, &self.overwrites),
            (Peril::Sends, &self.sends),
            (Peril::EndsSession, &self.ends_session),
        ];
        let known = lists.into_iter().filter(|(_, labels)| !labels.is_empty());
        let mut known = known.map(|(peril, labels)| {
            (peril, Alike::new(labels.iter().take(Self::LABELS_MAX).map(String::as_str)))
        });
        known.find(|(_, alike)| looks(alike)).map(|(peril, _)| peril)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        intent::Does,
        policy::{Policy, PolicyDecision, Subject},
    };

    fn asks(words: &SafeGuardLabels, label: &str) -> bool {
        let subject = Subject {
            role: Some("push button".to_owned()),
            labels: vec![label.to_owned()],
            does: Does::Press,
            ..Subject::default()
        };
        let policy = Policy { words: words.clone(), ..Policy::default() };
        policy.decide(&subject).decision == PolicyDecision::Ask
    }

    fn learned(texts: &[(&str, &str)]) -> SafeGuardLabels {
        let mut words = SafeGuardLabels::default();
        texts.iter().for_each(|(label, translation)| words.learn(label, translation));
        words
    }

    #[test]
    fn translations_of_guarded_labels_are_guarded() {
        let words = learned(&[
            ("_Delete", "_Zorbix"),
            ("Do_n't Save", "Flep _nir"),
            ("Empty Trash…", "Quon mabber…"),
            ("_Open", "_Apris"),
        ]);
        for label in ["Zorbix", "_zorbix…", "Flep nir", "Quon mabber", "Zorbіx"] {
            assert!(asks(&words, label), "{label}: {words:?}");
        }
        assert!(!asks(&words, "Apris"));
        assert!(!asks(&SafeGuardLabels::default(), "Zorbix"));
    }

    #[test]
    fn hostile_translations_take_no_label_away_and_add_no_pattern() {
        let many: Vec<String> = (0..2_000).map(|at| format!("Flood {at}")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|text| ("Delete", text.as_str())).collect();
        let long = "x".repeat(10_000);
        let hostile = [
            ("Delete", "*"),
            ("Delete", "?"),
            ("Delete", ""),
            ("Delete", "OK|Next"),
            ("Delete", long.as_str()),
            ("Send", "a\nb"),
        ];
        for texts in [&hostile[..], &many[..]] {
            let words = learned(texts);
            assert!(asks(&words, "Delete") && asks(&words, "Löschen"));
            assert!(!asks(&words, "OK") && !asks(&words, "Next") && !asks(&words, ""), "{words:?}");
            assert!(words.deletes.len() <= SafeGuardLabels::LABELS_MAX);
        }
    }
}
