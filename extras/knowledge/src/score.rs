//! Score of a text for a query, as a number that can be compared between look-ups of one retriever.
//!
//! BM25 alone orders the texts of one look-up; its numbers mean nothing elsewhere. The share of the wanted words
//! that a text has, rare words counting more, does.

use std::collections::HashSet;

use crate::words::stems;

/// The highest score.
const SCORE_MAX: f32 = 1_000.0;
/// Weight of the share of words; the rest is BM25, relative to the best text.
const SHARE_OF_WORDS: f32 = 0.6;

/// The words that are wanted, each with its weight.
#[derive(Debug, Clone, Default)]
pub(crate) struct WeightedTerms {
    words: Vec<(String, f32)>,
}

impl WeightedTerms {
    /// Words with the number of texts, of `total`, that each is in.
    pub(crate) fn new(words: Vec<(String, u64)>, total: u64) -> Self {
        // A word that is nowhere says no more than one that is in one text.
        let weight = |count: u64| (1.0 + (total as f32 + 0.5) / (count.max(1) as f32 + 0.5)).ln();
        Self { words: words.into_iter().map(|(word, count)| (word, weight(count))).collect() }
    }

    /// The share of the words that the text has, 0 to 1.
    pub(crate) fn share(&self, text: &str) -> f32 {
        let there: HashSet<String> = stems(text).into_iter().collect();
        let all: f32 = self.words.iter().map(|(_, weight)| weight).sum();
        let found: f32 =
            self.words.iter().filter(|(word, _)| there.contains(word)).map(|(_, weight)| weight).sum();
        if all > 0.0 { found / all } else { 0.0 }
    }
}

/// Mixes the share of words with BM25, which is relative to the best text: 0 to 1.
pub(crate) fn mixed(share: f32, relevance: f32, relevance_best: f32) -> f32 {
    let relative = if relevance_best > 0.0 { (relevance / relevance_best).clamp(0.0, 1.0) } else { 0.0 };
    SHARE_OF_WORDS.mul_add(share, (1.0 - SHARE_OF_WORDS) * relative)
}

/// A fit of 0 to 1 as a score. What is no number fits least.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped before")]
pub(crate) fn score(fit: f32) -> u16 {
    if fit.is_nan() { 0 } else { (fit.clamp(0.0, 1.0) * SCORE_MAX).round() as u16 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_count_more() {
        let wanted = WeightedTerms::new(vec![("filter".to_owned(), 3), ("cell".to_owned(), 900)], 1_000);
        assert!(wanted.share("filters of a list") > 0.6);
        assert!(wanted.share("cells of a list") < 0.4);
        assert!((wanted.share("filter the cells") - 1.0).abs() < 1e-6);
        assert!(wanted.share("nothing").abs() < 1e-6);
        assert!(WeightedTerms::default().share("nothing").abs() < 1e-6);
    }

    #[test]
    fn scores_have_bounds() {
        assert_eq!(
            [score(-1.0), score(0.5), score(7.0), score(f32::NAN), score(f32::INFINITY)],
            [0, 500, 1_000, 0, 1_000]
        );
        assert_eq!(score(mixed(1.0, 12.5, 12.5)), 1_000);
        assert_eq!(score(mixed(0.0, 0.0, 0.0)), 0);
    }
}
