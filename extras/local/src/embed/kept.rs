//! Embeddings that were computed before: a window is shown with nearly the same titles in every step.

use std::collections::{HashMap, VecDeque};

/// The most embeddings that are kept. Each has 384 numbers, so that all have about 3 MB.
const KEPT_MAX: usize = 2_000;

/// Embeddings by their texts; the oldest ones are dropped first.
#[derive(Debug, Default)]
pub(crate) struct EmbeddingCache {
    vectors: HashMap<String, Vec<f32>>,
    order: VecDeque<String>,
}

impl EmbeddingCache {
    pub(crate) fn get(&self, text: &str) -> Option<&[f32]> {
        self.vectors.get(text).map(Vec::as_slice)
    }

    pub(crate) fn add(&mut self, text: &str, vector: Vec<f32>) {
        if self.vectors.insert(text.to_owned(), vector).is_none() {
            self.order.push_back(text.to_owned());
        }
        if self.order.len() > KEPT_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.vectors.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_dropped() {
        let mut kept = EmbeddingCache::default();
        for number in 0..=KEPT_MAX {
            kept.add(&number.to_string(), vec![0.0]);
            kept.add("1", vec![1.0]);
        }
        assert_eq!(kept.get("0"), None);
        assert_eq!(kept.get("1"), Some([1.0].as_slice()));
        assert_eq!(kept.vectors.len(), KEPT_MAX);
        assert_eq!(kept.order.len(), KEPT_MAX);
    }
}
