//! Figures for Prometheus.
//!
//! What sessions did follows from their journals, by the catalogue. Counters go on counting when the service is started again and when
//! sessions are removed.

mod figures;
mod sessions;
mod totals;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Mutex, PoisonError},
};

use axum::http::StatusCode;

pub(crate) use figures::{MetricFamily, number, text};
pub(crate) use sessions::sessions;
use totals::Totals;

/// Counters beside those of the sessions, and totals of removed sessions.
pub(crate) struct Metrics {
    totals: Mutex<Totals>,
    /// Refused requests by status.
    refused: Mutex<BTreeMap<u16, u64>>,
}

impl Metrics {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { totals: Mutex::new(Totals::in_folder(folder)), refused: Mutex::default() }
    }

    /// Counts a request that was refused.
    pub(super) fn refused(&self, status: StatusCode) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let count = refused.entry(status.as_u16()).or_default();
        *count = count.saturating_add(1);
    }

    /// Requests that were refused since the service began.
    pub(crate) fn refusals(&self) -> MetricFamily {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let mut figure =
            MetricFamily::counter("deskhand_refused_requests", "Requests that were not let in, by status");
        for (status, count) in &*refused {
            figure.add(&[("status", &status.to_string())], figures::number(*count));
        }
        figure
    }

    /// Makes counters of sums over the sessions that there are.
    pub(crate) fn keep(&self, figures: &mut [MetricFamily]) {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner).keep(figures);
    }
}
