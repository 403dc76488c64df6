//! The times of a table.

use std::{fs, time::Instant};

use deskhand_machine::outcome::OutcomeKind;
use deskhand_runtime::{
    Catalogue, Query, SessionStore,
    catalogue::{Column, OutcomeFilter},
};
use serde::Serialize;

use crate::Failure;

/// How often each time is taken.
const TIMES: usize = 20;

/// The measurements; times in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// The number of sessions.
    sessions: usize,
    /// The number of sessions that the query finds.
    found: usize,
    /// The size of all journals.
    journals_mib: f64,
    /// The size of the index.
    index_mib: f64,
    /// All journals are read: there is no index.
    cold_ms: f64,
    /// The index is read, compared with all journals, and asked: what a command does.
    warm_ms: Spread,
    /// The catalogue is in memory, compared with all journals, and asked: what a service does.
    kept_ms: Spread,
    /// The catalogue is in memory and only asked.
    table_ms: Spread,
    /// The same for a chart.
    series_ms: Spread,
    /// Whether this was built with optimisations.
    optimised: bool,
}

/// Several times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Spread {
    p50: f64,
    p95: f64,
    max: f64,
}

/// Measures a store.
///
/// # Errors
/// The store cannot be read, or the query does not find what is there.
pub(crate) fn measure(store: &SessionStore) -> Result<Figures, Failure> {
    let query = Query {
        words: vec!["calc".to_owned()],
        outcomes: vec![OutcomeFilter::Is(OutcomeKind::Finished)],
        sort: Column::Tokens,
        ..Query::default()
    };
    let index = store.root().join("sessions.index");
    if index.exists() {
        fs::remove_file(&index)?;
    }
    let begun = Instant::now();
    let mut kept = Catalogue::open(store.clone());
    kept.refresh()?;
    let cold_ms = ms(begun);
    // Journals that were just copied are read once more.
    kept.refresh()?;
    let table = kept.table(&query);
    if table.rows.is_empty() || table.rows.len() == table.all {
        return Err("the query should find some sessions".into());
    }
    let warm_ms = spread(|| {
        let mut catalogue = Catalogue::open(store.clone());
        catalogue.refresh()?;
        Ok(catalogue.table(&query).total)
    })?;
    let kept_ms = spread(|| {
        kept.refresh()?;
        Ok(kept.table(&query).total)
    })?;
    let table_ms = spread(|| Ok(kept.table(&query).total))?;
    let series_ms = spread(|| Ok(kept.series(&query).len()))?;
    let journals = store.list()?.into_iter().map(|id| store.root().join(id.0).join("journal.jsonl"));
    let journals_bytes = journals.map(|path| fs::metadata(path).map_or(0, |found| found.len())).sum();
    Ok(Figures {
        sessions: table.all,
        found: table.total,
        journals_mib: mib(journals_bytes),
        index_mib: mib(fs::metadata(&index)?.len()),
        cold_ms,
        warm_ms,
        kept_ms,
        table_ms,
        series_ms,
        optimised: !cfg!(debug_assertions),
    })
}

fn spread(mut work: impl FnMut() -> Result<usize, Failure>) -> Result<Spread, Failure> {
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let begun = Instant::now();
        if work()? == 0 {
            return Err("nothing was found".into());
        }
        times.push(ms(begun));
    }
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| {
        times.get((times.len() * percent / 100).min(times.len() - 1)).copied().unwrap_or(0.0)
    };
    Ok(Spread { p50: at(50), p95: at(95), max: at(100) })
}

fn ms(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1_000.0
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52 bytes")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}
