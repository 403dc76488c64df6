//! The experiences as the records leave them.

use std::collections::{BTreeMap, HashMap};

use super::{
    log::Record,
    model::{Experience, Outcome},
    same::Same,
};

/// All experiences.
#[derive(Debug, Default)]
pub(crate) struct State {
    by_id: BTreeMap<String, Experience>,
    /// What has the same request and outcome.
    same: HashMap<(Same, Outcome), String>,
    /// How many records led here.
    records: usize,
}

impl State {
    pub(crate) fn apply(&mut self, record: Record) {
        self.records += 1;
        match record {
            Record::Add { experience, replaces } => {
                for id in replaces {
                    self.remove(&id);
                }
                self.remove(&experience.id.clone());
                let key = (Same::of(&experience), experience.outcome);
                self.same.insert(key, experience.id.clone());
                self.by_id.insert(experience.id.clone(), *experience);
            }
            Record::Result { id, worked, at_ms } => {
                if let Some(experience) = self.by_id.get_mut(&id) {
                    experience.uses.note(worked, at_ms);
                }
            }
            Record::Forget { ids } => {
                for id in ids {
                    self.remove(&id);
                }
            }
        }
    }

    fn remove(&mut self, id: &str) {
        let Some(experience) = self.by_id.remove(id) else { return };
        let key = (Same::of(&experience), experience.outcome);
        if self.same.get(&key).is_some_and(|same| same == id) {
            self.same.remove(&key);
        }
    }

    /// The record that adds an experience. It takes the place of those with the same request: what worked that of all, what failed that
    /// of what failed. Their counters are kept. `None` if there is a later one.
    pub(crate) fn adding(&self, mut experience: Experience) -> Option<Record> {
        let same = Same::of(&experience);
        let outcomes: &[Outcome] = match experience.outcome {
            Outcome::Worked => &[Outcome::Worked, Outcome::Failed],
            Outcome::Failed => &[Outcome::Failed],
        };
        let mut replaces = Vec::new();
        let places = outcomes.iter().filter_map(|outcome| self.same.get(&(same.clone(), *outcome)));
        for other in places.filter_map(|id| self.by_id.get(id)).chain(self.by_id.get(&experience.id)) {
            if replaces.contains(&other.id) {
                continue;
            }
            if other.at_ms > experience.at_ms && other.outcome == experience.outcome {
                return None;
            }
            if other.outcome == experience.outcome {
                experience.uses = experience.uses.plus(other.uses);
            }
            replaces.push(other.id.clone());
        }
        // Adding again under the same id replaces by itself.
        replaces.retain(|id| *id != experience.id);
        Some(Record::Add { experience: Box::new(experience), replaces })
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Experience> {
        self.by_id.get(id)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Experience> {
        self.by_id.values()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// How many records led here.
    pub(crate) const fn records(&self) -> usize {
        self.records
    }
}
