//! More labels of what usually cannot be undone, besides those of [`labels`](super::labels).

use serde::{Deserialize, Serialize};

use super::labels::Peril;
use crate::policy::looks::Alike;

/// Labels that the safe guard asks about, by what they bring about: patterns, as in rules. They only add to those that it knows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Words {
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

impl Words {
    /// The most labels for one peril.
    pub const LABELS_MAX: usize = 200;

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.deletes.is_empty()
            && self.discards.is_empty()
            && self.overwrites.is_empty()
            && self.sends.is_empty()
            && self.ends_session.is_empty()
    }

    /// What a label brings about.
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
