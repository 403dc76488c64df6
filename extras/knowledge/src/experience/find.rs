//! A look-up: what the index chose, what is not in it yet, and their order.

use std::collections::HashSet;

use deskhand_machine::retrieval::{Hit, Retriever, Trust};

use super::{
    error::ExperienceError,
    index::{ExperienceIndex, ExperienceIndexHits, ids},
    log::{ExperienceLog, Position},
    model::{Experience, ExperienceKind, ExperienceOutcome},
    state::ExperienceSet,
};
use crate::{
    score::{WeightedTerms, mixed, score},
    words,
};

/// The least share of wanted words in an experience that is shown: a wrong example is worse than none.
const SHARE_MIN: f32 = 0.3;
/// Weight of an experience with another application.
const OTHER_APPLICATION: f32 = 0.5;

/// The work of a look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ExperienceLookupCost {
    /// Number of bytes of the records that were read to find those missing from the index.
    pub(crate) bytes: u64,
    /// Number of experiences compared word by word.
    pub(crate) compared: usize,
}

/// A look-up.
pub(crate) struct ExperienceLookup<'a> {
    words: Vec<String>,
    application: Option<&'a str>,
    chosen: ExperienceIndexHits,
    unindexed: UnindexedRecords,
    work: ExperienceLookupCost,
}

/// Records that the index does not have.
enum UnindexedRecords {
    /// Nothing at all is known to be in it.
    All,
    /// So many records, with the experiences that they added.
    Some(usize, Vec<String>),
}

impl<'a> ExperienceLookup<'a> {
    pub(crate) fn new(wanted: &str, application: Option<&'a str>) -> Self {
        let all = words::wanted(wanted);
        // Numbers and names of cells are what differs between requests that are the same.
        let is_name = |word: &String| !word.chars().any(|c| c.is_ascii_digit());
        let names: Vec<String> = all.iter().filter(|word| is_name(word)).cloned().collect();
        let words = if names.is_empty() { all } else { names };
        let unindexed = UnindexedRecords::Some(0, Vec::new());
        Self {
            words,
            application,
            chosen: ExperienceIndexHits::default(),
            unindexed,
            work: ExperienceLookupCost::default(),
        }
    }

    /// Asks the index, and reads which records it does not have.
    pub(crate) fn choose(
        &mut self,
        index: &ExperienceIndex,
        log: &ExperienceLog,
    ) -> Result<(), ExperienceError> {
        self.chosen = index.look_up(&self.words, self.application);
        let Some(position) = &self.chosen.position else {
            self.unindexed = UnindexedRecords::All;
            return Ok(());
        };
        let read = log.read_since(position)?;
        self.work.bytes = read.bytes;
        self.unindexed = if read.is_all && read.position != Position::default() {
            UnindexedRecords::All
        } else {
            let added = read.records.iter().flat_map(ids).map(ToOwned::to_owned).collect();
            UnindexedRecords::Some(read.records.len(), added)
        };
        Ok(())
    }

    /// Returns the number of records that the index does not have.
    pub(crate) const fn unindexed(&self) -> usize {
        match &self.unindexed {
            UnindexedRecords::All => usize::MAX,
            UnindexedRecords::Some(count, _) => *count,
        }
    }

    /// The hits, and the work that they took.
    pub(crate) fn hits(mut self, state: &ExperienceSet, hits_max: usize) -> (Vec<Hit>, ExperienceLookupCost) {
        let best = self.chosen.ids.first().map_or(0.0, |(relevance, _)| *relevance);
        let weighted = match self.unindexed {
            // Without an index all words weigh the same.
            UnindexedRecords::All => {
                WeightedTerms::new(self.words.iter().map(|word| (word.clone(), 1)).collect(), 1)
            }
            UnindexedRecords::Some(..) => self.chosen.weighted.clone(),
        };
        let mut seen = HashSet::new();
        let mut fits: Vec<(f32, &Experience)> = Vec::new();
        let mut consider = |experience: &'_ Experience, relevance: Option<f32>| -> Option<f32> {
            self.work.compared += 1;
            fit(experience, &weighted, relevance.map(|relevance| (relevance, best)), self.application)
        };
        for (relevance, id) in &self.chosen.ids {
            if let Some(experience) = state.get(id).filter(|_| seen.insert(id.clone()))
                && let Some(fit) = consider(experience, Some(*relevance))
            {
                fits.push((fit, experience));
            }
        }
        let rest: Vec<&Experience> = match &self.unindexed {
            UnindexedRecords::All => state.all().collect(),
            UnindexedRecords::Some(_, added) => added.iter().filter_map(|id| state.get(id)).collect(),
        };
        for experience in rest {
            if seen.insert(experience.id.clone())
                && let Some(fit) = consider(experience, None)
            {
                fits.push((fit, experience));
            }
        }
        // What worked comes first, then the best, then the latest.
        fits.sort_by(|(one_fit, one), (other_fit, other)| {
            let fit = other_fit.total_cmp(one_fit);
            one.outcome.cmp(&other.outcome).then(fit).then(other.at_ms.cmp(&one.at_ms))
        });
        let hits = fits.into_iter().take(hits_max).map(|(fit, one)| self.hit(fit, one)).collect();
        (hits, self.work)
    }

    fn hit(&self, fit: f32, experience: &Experience) -> Hit {
        let (retriever, trust) = match experience.kind {
            ExperienceKind::Session => (Retriever::Experience, Trust::Session),
            ExperienceKind::Demonstration => (Retriever::Demonstration, Trust::User),
        };
        let is_asked = |name: &&String| Some(name.as_str()) == self.application;
        let application = experience.applications.iter().find(is_asked).or(experience.applications.first());
        Hit {
            retriever,
            trust,
            score: score(fit),
            title: experience.title(),
            origin: experience.id.clone(),
            application: application.cloned(),
            text: experience.shown(),
        }
    }
}

/// Rates how well an experience fits, 0 to 1; `None` if it does not fit. `relevance` is that of the index, with
/// the best one.
fn fit(
    experience: &Experience,
    weighted: &WeightedTerms,
    relevance: Option<(f32, f32)>,
    application: Option<&str>,
) -> Option<f32> {
    let request = weighted.share(&experience.request);
    let all = weighted.share(&format!("{}\n{}", experience.request, experience.body()));
    // Words of the request say what it is about, words of the steps what happened on the way.
    let share = f32::midpoint(request, all);
    if share < SHARE_MIN {
        return None;
    }
    let fit = match relevance {
        Some((relevance, best)) => mixed(share, relevance, best),
        None => share,
    };
    let has = |application: &str| experience.applications.iter().any(|name| name == application);
    let is_other = application.is_some_and(|name| !has(name)) && !experience.applications.is_empty();
    let worth = if is_other { OTHER_APPLICATION } else { 1.0 };
    Some(fit * worth * reliability(experience))
}

/// Returns the weight of an experience by the success of its uses, 0.5 to 1.
fn reliability(experience: &Experience) -> f32 {
    match experience.outcome {
        ExperienceOutcome::Failed => 1.0,
        ExperienceOutcome::Worked => {
            let (succeeded, failed) = (experience.uses.succeeded as f32, experience.uses.failed as f32);
            f32::midpoint(1.0, (succeeded + 1.0) / (succeeded + failed + 1.0))
        }
    }
}
