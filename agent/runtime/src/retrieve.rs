//! Asks retrievers, which whoever runs the session brings.

use std::{pin::Pin, sync::Arc};

use deskhand_machine::retrieval::{Hit, Lookup};

/// The results of retrievers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RetrievalResult {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// Why a retriever found nothing, for the journal: each names the retriever, the cause and the next step.
    pub problems: Vec<String>,
}

/// The answer of retrievers.
pub type Retrieving = Pin<Box<dyn Future<Output = RetrievalResult> + Send>>;

/// Asks retrievers for what could help with a piece of work. It bounds the time that it takes.
pub type Retrieve = Arc<dyn Fn(Lookup) -> Retrieving + Send + Sync>;

/// The longest title, origin or problem that is kept, in characters, and the longest text.
const LINE_CHARS_MAX: usize = 300;
const TEXT_CHARS_MAX: usize = 8_000;
/// The most hits of one look-up that are kept.
const HITS_MAX: usize = 20;

impl RetrievalResult {
    /// The same within the limits of what a journal keeps.
    pub(crate) fn clipped(mut self) -> Self {
        use deskhand_ui::clipping::within;
        self.hits.truncate(HITS_MAX);
        for hit in &mut self.hits {
            hit.title = within(std::mem::take(&mut hit.title), LINE_CHARS_MAX);
            hit.origin = within(std::mem::take(&mut hit.origin), LINE_CHARS_MAX);
            hit.text = within(std::mem::take(&mut hit.text), TEXT_CHARS_MAX);
        }
        self.problems.truncate(HITS_MAX);
        self.problems = self.problems.into_iter().map(|text| within(text, LINE_CHARS_MAX)).collect();
        self
    }
}

/// The hits that fit in a limit of tokens (estimated), best first of each retriever in turn, so that one does not crowd out the others.
pub fn fitting(mut hits: Vec<Hit>, tokens_max: u32) -> Vec<Hit> {
    hits.sort_by_key(|hit| std::cmp::Reverse(hit.score));
    let mut left = usize::try_from(tokens_max).unwrap_or(usize::MAX);
    let mut taken: Vec<Hit> = Vec::new();
    while !hits.is_empty() {
        // Those whose retriever has the fewest so far come first; the sort keeps the order of scores.
        hits.sort_by_key(|hit| taken.iter().filter(|other| other.retriever == hit.retriever).count());
        let hit = hits.remove(0);
        if let Some(rest) = left.checked_sub(hit.tokens()) {
            left = rest;
            taken.push(hit);
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use deskhand_machine::retrieval::{Retriever, Trust};

    use super::*;

    fn hit(retriever: Retriever, score: u16, words: usize) -> Hit {
        Hit {
            retriever,
            trust: Trust::Installed,
            score,
            title: String::new(),
            origin: String::new(),
            application: None,
            text: "word ".repeat(words),
        }
    }

    #[test]
    fn each_retriever_is_heard_within_the_limit() {
        let hits = vec![
            hit(Retriever::Help, 900, 40),
            hit(Retriever::Help, 800, 40),
            hit(Retriever::Search, 300, 40),
            hit(Retriever::Experience, 100, 400),
        ];
        let scores: Vec<u16> = fitting(hits.clone(), 110).iter().map(|hit| hit.score).collect();
        assert_eq!(scores, [900, 300]);
        assert_eq!(fitting(hits.clone(), 0), []);
        assert_eq!(fitting(hits, 10_000).len(), 4);
    }
}
