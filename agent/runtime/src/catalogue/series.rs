//! Sessions by day, for charts.

use std::collections::BTreeMap;

use deskhand_machine::outcome::OutcomeKind;
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::{Deserialize, Serialize};

use super::{
    listing::Catalogue,
    query::Query,
    row::{CatalogueRow, dollars},
};

/// The most days; the last ones.
const DAYS_MAX: usize = 3_660;

/// The sessions that began on one day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Day {
    /// The day in local time: `2026-11-27`.
    pub date: String,
    /// The number of sessions.
    pub sessions: u32,
    /// Those with an outcome.
    pub with_outcome: u32,
    /// Those of them that finished.
    pub finished: u32,
    /// The share of them that finished, from 0 to 1; `None` if none has an outcome.
    pub success_rate: Option<f64>,
    /// The known cost, in US dollars.
    pub cost_usd: f64,
    /// Model requests whose cost is unknown.
    pub cost_unknown_calls: u32,
    /// Model requests.
    pub model_calls: u64,
    /// Input and output tokens.
    pub tokens: u64,
    /// The median time from the first record of a session to its last, in milliseconds, of those with an outcome; of an even number the
    /// mean of the middle two. `None` if none has an outcome.
    pub elapsed_median_ms: Option<u64>,
}

/// Sums for a day.
#[derive(Default)]
struct Sums {
    sessions: u32,
    finished: u32,
    cost_micros: u64,
    cost_unknown_calls: u32,
    model_calls: u64,
    tokens: u64,
    /// Of the sessions with an outcome.
    elapsed_ms: Vec<u64>,
}

impl Catalogue {
    /// The sessions that fit a query by the day on which they began, in local time: from the first such day to the last, days without
    /// sessions included; at most the last ten years. Order and page of the query do not matter.
    pub fn series(&self, query: &Query) -> Vec<Day> {
        self.series_with(query, std::iter::empty())
    }

    /// The same, with sessions of other machines.
    pub fn series_with<'a>(
        &'a self,
        query: &'a Query,
        others: impl Iterator<Item = CatalogueRow<'a>>,
    ) -> Vec<Day> {
        series_in(self.fitting(query, others), &TimeZone::system())
    }
}

/// The sessions by day in a time zone.
pub(super) fn series_in<'a>(rows: impl Iterator<Item = CatalogueRow<'a>>, zone: &TimeZone) -> Vec<Day> {
    let mut days: BTreeMap<Date, Sums> = BTreeMap::new();
    for row in rows {
        if let Some(date) = date_of(row.facts.begun_ms, zone) {
            days.entry(date).or_default().add(&row);
        }
    }
    let Some((first, last)) = days.first_key_value().zip(days.last_key_value()) else { return Vec::new() };
    let (first, last) = (*first.0, *last.0);
    let mut series = Vec::new();
    let mut date = Some(last);
    while let Some(day) = date.filter(|day| *day >= first && series.len() < DAYS_MAX) {
        series.push(days.remove(&day).unwrap_or_default().into_day(day));
        date = day.yesterday().ok();
    }
    series.reverse();
    series
}

fn date_of(ms: u64, zone: &TimeZone) -> Option<Date> {
    let when = Timestamp::from_millisecond(i64::try_from(ms).ok()?).ok()?;
    Some(when.to_zoned(zone.clone()).date())
}

impl Sums {
    fn add(&mut self, row: &CatalogueRow<'_>) {
        let facts = row.facts;
        self.sessions = self.sessions.saturating_add(1);
        self.finished += u32::from(facts.outcome == Some(OutcomeKind::Finished));
        self.cost_micros = self.cost_micros.saturating_add(facts.cost.known.0);
        self.cost_unknown_calls = self.cost_unknown_calls.saturating_add(facts.cost.unknown_calls);
        self.model_calls = self.model_calls.saturating_add(facts.model_calls.into());
        self.tokens = self.tokens.saturating_add(facts.tokens());
        if facts.outcome.is_some() {
            self.elapsed_ms.push(facts.elapsed_ms);
        }
    }

    fn into_day(mut self, date: Date) -> Day {
        let with_outcome = u32::try_from(self.elapsed_ms.len()).unwrap_or(u32::MAX);
        let rate = f64::from(self.finished) / f64::from(with_outcome);
        Day {
            date: date.to_string(),
            sessions: self.sessions,
            with_outcome,
            finished: self.finished,
            success_rate: (with_outcome > 0).then_some(rate),
            cost_usd: dollars(self.cost_micros),
            cost_unknown_calls: self.cost_unknown_calls,
            model_calls: self.model_calls,
            tokens: self.tokens,
            elapsed_median_ms: median(&mut self.elapsed_ms),
        }
    }
}

fn median(values: &mut [u64]) -> Option<u64> {
    values.sort_unstable();
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get(values.len().checked_sub(1)? / 2)?;
    Some(lower.midpoint(upper))
}
