//! The experiences as the records leave them.

use std::collections::{BTreeMap, HashMap};

use super::{
    log::ExperienceRecord,
    model::{Experience, ExperienceOutcome},
    same::Same,
};

/// All experiences.
#[derive(Debug, Default)]
pub(crate) struct ExperienceSet {
    by_id: BTreeMap<String, Experience>,
    /// Ids by request and outcome. Only writers need the map: it is built on first use.
    same: Option<HashMap<(Same, ExperienceOutcome), String>>,
    /// Number of records that led to this state.
    records: usize,
}

impl ExperienceSet {
    pub(crate) fn apply(&mut self, record: ExperienceRecord) {
        self.records += 1;
        match record {
            ExperienceRecord::Add { experience, replaces } => {
                for id in replaces {
                    self.remove(&id);
                }
                self.remove(&experience.id.clone());
                if let Some(same) = &mut self.same {
                    same.insert(key(&experience), experience.id.clone());
                }
                self.by_id.insert(experience.id.clone(), *experience);
            }
            ExperienceRecord::Result { id, worked, at_ms } => {
                if let Some(experience) = self.by_id.get_mut(&id) {
                    experience.uses.note(worked, at_ms);
                }
            }
            ExperienceRecord::Forget { ids } => {
                for id in ids {
                    self.remove(&id);
                }
            }
        }
    }

    fn remove(&mut self, id: &str) {
        let Some(experience) = self.by_id.remove(id) else { return };
        let Some(same) = &mut self.same else { return };
        let key = key(&experience);
        if same.get(&key).is_some_and(|same| same == id) {
            same.remove(&key);
        }
    }

    /// The record that adds an experience. It takes the place of those with the same request: what worked that of all, what failed that
    /// of what failed. Their counters are kept. `None` if there is a later one.
    pub(crate) fn adding(&mut self, mut experience: Experience) -> Option<ExperienceRecord> {
        let all = &self.by_id;
        let known =
            self.same.get_or_insert_with(|| all.values().map(|one| (key(one), one.id.clone())).collect());
        let same = Same::of(&experience);
        let outcomes: &[ExperienceOutcome] = match experience.outcome {
            ExperienceOutcome::Worked => &[ExperienceOutcome::Worked, ExperienceOutcome::Failed],
            ExperienceOutcome::Failed => &[ExperienceOutcome::Failed],
        };
        let mut replaces = Vec::new();
        let places = outcomes.iter().filter_map(|outcome| known.get(&(same.clone(), *outcome)));
        for other in places.filter_map(|id| all.get(id)).chain(all.get(&experience.id)) {
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
        Some(ExperienceRecord::Add { experience: Box::new(experience), replaces })
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

    /// Returns the number of records that led to this state.
    pub(crate) const fn records(&self) -> usize {
        self.records
    }
}

/// Returns the key by which an experience is found when one with the same request is added.
fn key(experience: &Experience) -> (Same, ExperienceOutcome) {
    (Same::of(experience), experience.outcome)
}
