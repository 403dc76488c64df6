//! Figures, and their text in the format of OpenMetrics.

use std::fmt;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, NoLabelSet, text::encode},
    metrics::MetricType,
    registry::Registry,
};

/// The label of the bound of a bucket in [`MetricFamily::values`] of a histogram, and what has its sum.
const BOUND: &str = "le";
const SUM: &str = "sum";

/// The type of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

/// A figure with its values by labels.
#[derive(Debug)]
pub(crate) struct MetricFamily {
    pub(super) name: &'static str,
    help: &'static str,
    pub(super) kind: MetricKind,
    pub(super) values: Vec<(Vec<(&'static str, String)>, f64)>,
}

impl MetricFamily {
    pub(crate) const fn counter(name: &'static str, help: &'static str) -> Self {
        Self { name, help, kind: MetricKind::Counter, values: Vec::new() }
    }

    pub(crate) const fn gauge(name: &'static str, help: &'static str) -> Self {
        Self { name, help, kind: MetricKind::Gauge, values: Vec::new() }
    }

    /// A histogram. `counts` are those of each bucket, the last one without a bound.
    pub(crate) fn histogram(
        name: &'static str,
        help: &'static str,
        bounds: &[f64],
        counts: &[u64],
        sum: f64,
    ) -> Self {
        let mut figure = Self { name, help, kind: MetricKind::Histogram, values: Vec::new() };
        figure.add(&[(SUM, "")], sum);
        for (place, count) in counts.iter().enumerate() {
            let bound = bounds.get(place).copied().unwrap_or(f64::INFINITY);
            figure.add(&[(BOUND, &bound.to_string())], number(*count));
        }
        figure
    }

    /// Adds to the value with these labels.
    pub(crate) fn add(&mut self, labels: &[(&'static str, &str)], value: f64) {
        let labels: Vec<(&'static str, String)> =
            labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        match self.values.iter_mut().find(|(known, _)| *known == labels) {
            Some((_, known)) => *known += value,
            None => self.values.push((labels, value)),
        }
    }
}

/// A count as a value.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(crate) const fn number(count: u64) -> f64 {
    count as f64
}

/// A value as a count.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made of a count")]
const fn count(value: f64) -> u64 {
    value as u64
}

/// All figures of an answer.
#[derive(Debug)]
struct Figures(Vec<MetricFamily>);

impl Collector for Figures {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        for figure in &self.0 {
            let kind = match figure.kind {
                MetricKind::Counter => MetricType::Counter,
                MetricKind::Gauge => MetricType::Gauge,
                MetricKind::Histogram => MetricType::Histogram,
            };
            let mut metric = encoder.encode_descriptor(figure.name, figure.help, None, kind)?;
            if figure.kind == MetricKind::Histogram {
                let (mut sum, mut buckets) = (0.0, Vec::new());
                for (labels, value) in &figure.values {
                    match labels.first() {
                        Some((BOUND, bound)) => {
                            buckets.push((bound.parse().unwrap_or(f64::INFINITY), count(*value)));
                        }
                        Some(_) | None => sum = *value,
                    }
                }
                let all = buckets.iter().map(|(_, count)| count).sum();
                metric.encode_histogram::<NoLabelSet>(sum, all, &buckets, None)?;
                continue;
            }
            for (labels, value) in &figure.values {
                let mut metric = metric.encode_family(labels)?;
                match figure.kind {
                    MetricKind::Counter => metric.encode_counter::<NoLabelSet, _, f64>(value, None)?,
                    MetricKind::Gauge | MetricKind::Histogram => metric.encode_gauge(value)?,
                }
            }
        }
        Ok(())
    }
}

/// The text of figures.
///
/// # Errors
/// A value cannot be written.
pub(crate) fn text(figures: Vec<MetricFamily>) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Figures(figures)));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}
