//! Counters that never go backwards: what sessions did that are gone is kept.
//!
//! The file has, for each counter, its last sum over the sessions that there were, and what is added to it. When a sum is smaller than
//! the last one, sessions were removed, and the difference is added from then on. What removed sessions did since the file was written
//! last is lost.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::figures::{MetricFamily, MetricKind};
use crate::page::once::write_whole;

/// The name of the file.
const FILE: &str = "totals.json";

pub(super) struct Totals {
    file: PathBuf,
    /// The last sum of a counter, and what is added to it.
    kept: BTreeMap<String, (f64, f64)>,
}

impl Totals {
    pub(super) fn in_folder(folder: &Path) -> Self {
        let file = folder.join(FILE);
        let read = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self { file, kept: read.unwrap_or_default() }
    }

    /// Adds what is kept to sums over the sessions that there are.
    pub(super) fn keep(&mut self, figures: &mut [MetricFamily]) {
        let before = self.kept.clone();
        for figure in figures.iter_mut().filter(|figure| figure.kind != MetricKind::Gauge) {
            for (key, (_, kept)) in &before {
                if let Some(labels) = labels_of(key, figure)
                    && figure.values.iter().all(|(known, _)| *known != labels)
                    && *kept >= 0.0
                {
                    figure.values.push((labels, 0.0));
                }
            }
            let name = figure.name;
            for (labels, value) in &mut figure.values {
                let key = key_of(name, labels);
                let (last, kept) = self.kept.get(&key).copied().unwrap_or_default();
                let kept = kept + (last - *value).max(0.0);
                self.kept.insert(key, (*value, kept));
                *value += kept;
            }
        }
        if self.kept != before {
            self.write();
        }
    }

    /// Replaces the file as a whole.
    fn write(&self) {
        if let Err(error) = write_whole(&self.file, &self.kept) {
            tracing::warn!(%error, "the totals of removed sessions cannot be kept");
        }
    }
}

/// The key of a counter: its name and labels as JSON.
fn key_of(name: &str, labels: &[(&'static str, String)]) -> String {
    serde_json::json!([name, labels]).to_string()
}

/// The labels of a key, if it is one of this figure, which has these labels elsewhere.
fn labels_of(key: &str, figure: &MetricFamily) -> Option<Vec<(&'static str, String)>> {
    let (name, labels): (String, Vec<(String, String)>) = serde_json::from_str(key).ok()?;
    let known = |label: &str| LABELS.iter().copied().find(|known| *known == label);
    let labels = labels.into_iter().map(|(label, value)| Some((known(&label)?, value)));
    (name == figure.name).then(|| labels.collect()).flatten()
}

/// The labels of counters.
const LABELS: [&str; 7] = ["model", "verdict", "phase", "kind", "outcome", "le", "sum"];

#[cfg(test)]
#[path = "totals_tests.rs"]
mod tests;
