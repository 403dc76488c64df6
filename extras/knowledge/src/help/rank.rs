//! The order of what was found: words first, then the meaning if something can tell it.

use deskhand_machine::retrieval::{Hit, Retriever, Trust};
use tantivy::{TantivyDocument, schema::Field};

use crate::{
    index::{IndexHits, stored},
    score::{mixed, score},
};

/// Tells how near texts are in meaning: a model on this machine, brought by the caller.
pub trait Reranker {
    /// Returns the nearness of each text to `wanted`, -1 to 1; as many numbers as texts.
    ///
    /// # Errors
    /// The reason why the nearness cannot be determined.
    fn nearness(&self, wanted: &str, texts: &[String]) -> Result<Vec<f32>, String>;
}

/// The most passages that are looked at after the index has chosen.
pub(crate) const CANDIDATES_MAX: usize = 60;
/// The most passages whose meaning is compared; each takes a model some milliseconds.
const RERANKED_MAX: usize = 20;
/// Weight of the meaning; the rest is words.
const SHARE_OF_MEANING: f32 = 0.5;
/// Additional weight of the words of the title.
const SHARE_OF_TITLE: f32 = 0.15;
/// Weight of a passage about no particular application, if the query names one.
const NO_APPLICATION: f32 = 0.9;
/// Weight of a passage about another application in that case.
const OTHER_APPLICATION: f32 = 0.6;
/// The most passages of one page, so that a long page does not hide all others.
const PER_PAGE_MAX: usize = 3;

/// The fields of a passage in the index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PassageFields {
    pub(crate) source: Field,
    pub(crate) origin: Field,
    pub(crate) title: Field,
    pub(crate) text: Field,
    /// Title and text, to search in.
    pub(crate) body: Field,
    pub(crate) application: Field,
}

/// Orders what was found, the best first.
pub(crate) fn ranked(
    found: &IndexHits,
    fields: PassageFields,
    asked: HelpQuery<'_>,
    hits_max: usize,
) -> Vec<Hit> {
    let best = found.documents.first().map_or(0.0, |(relevance, _)| *relevance);
    let mut fits: Vec<(f32, Hit)> = found
        .documents
        .iter()
        .map(|(relevance, document)| {
            let hit = hit(document, fields);
            let share = found.weighted.share(&format!("{}\n{}", hit.title, hit.text));
            let worth = worth(asked.application, hit.application.as_deref());
            let titled = found.weighted.share(&hit.title);
            let fit = mixed(share, *relevance, best);
            (SHARE_OF_TITLE.mul_add(titled, (1.0 - SHARE_OF_TITLE) * fit) * worth, hit)
        })
        .collect();
    sort(&mut fits);
    if let Some(reranker) = asked.reranker {
        rerank(&mut fits, asked.wanted, reranker);
        sort(&mut fits);
    }
    let mut hits: Vec<Hit> = Vec::new();
    for (fit, mut hit) in fits {
        let same_page = hits.iter().filter(|other| other.origin == hit.origin).count();
        // The same text may be on several pages, or was added from two sources.
        let is_known = hits.iter().any(|other| other.text == hit.text);
        if hits.len() < hits_max && same_page < PER_PAGE_MAX && !is_known {
            hit.score = score(fit);
            hits.push(hit);
        }
    }
    hits
}

/// Query of a look-up.
#[derive(Clone, Copy)]
pub(crate) struct HelpQuery<'a> {
    pub(crate) wanted: &'a str,
    pub(crate) application: Option<&'a str>,
    pub(crate) reranker: Option<&'a dyn Reranker>,
}

/// Ties keep the order of the index.
fn sort(fits: &mut [(f32, Hit)]) {
    fits.sort_by(|(one, _), (other, _)| other.total_cmp(one));
}

/// Mixes the meaning into the fits. What was not compared stays behind what was.
fn rerank(fits: &mut Vec<(f32, Hit)>, wanted: &str, reranker: &dyn Reranker) {
    let compared = fits.len().min(RERANKED_MAX);
    let texts: Vec<String> =
        fits.iter().take(compared).map(|(_, hit)| format!("{}\n{}", hit.title, hit.text)).collect();
    let near = match reranker.nearness(wanted, &texts) {
        Ok(near) if near.len() == compared => near,
        Ok(near) => {
            tracing::warn!(
                expected = compared,
                found = near.len(),
                "the meaning of help was told for other texts"
            );
            return;
        }
        Err(error) => {
            tracing::warn!(error, "the meaning of help cannot be compared; it is ordered by words");
            return;
        }
    };
    fits.truncate(compared);
    for ((fit, _), near) in fits.iter_mut().zip(near) {
        let near = if near.is_nan() { 0.0 } else { near.clamp(0.0, 1.0) };
        *fit = SHARE_OF_MEANING.mul_add(near, (1.0 - SHARE_OF_MEANING) * *fit);
    }
}

fn worth(asked: Option<&str>, about: Option<&str>) -> f32 {
    match (asked, about) {
        (Some(asked), Some(about)) if asked != about => OTHER_APPLICATION,
        (Some(_), None) => NO_APPLICATION,
        (None, _) | (Some(_), Some(_)) => 1.0,
    }
}

fn hit(document: &TantivyDocument, fields: PassageFields) -> Hit {
    Hit {
        retriever: Retriever::Help,
        trust: Trust::Installed,
        score: 0,
        title: stored(document, fields.title),
        origin: stored(document, fields.origin),
        application: Some(stored(document, fields.application)).filter(|name| !name.is_empty()),
        text: stored(document, fields.text),
    }
}
