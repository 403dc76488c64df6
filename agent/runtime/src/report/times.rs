//! Durations and times in reports.

use serde::Serialize;

use crate::{story::PhaseTimes, words::duration};

/// A segment of a bar.
#[derive(Debug, Clone, Serialize)]
pub(super) struct BarSegment {
    class: &'static str,
    name: &'static str,
    time: String,
    /// Percentage of the whole.
    share: String,
    weight: u64,
}

/// The non-empty phases of a duration.
pub(super) fn parts(times: &PhaseTimes, waited_ms: u64) -> Vec<BarSegment> {
    let phases = [
        ("observe", "observing", times.observe),
        ("ask", "the model", times.ask),
        ("act", "acting", times.act),
        ("record", "everything else", times.record),
        ("people", "waiting for the user", waited_ms),
    ];
    let whole = phases.iter().map(|(.., ms)| *ms).sum::<u64>().max(1);
    let part = |(class, name, ms): (&'static str, &'static str, u64)| BarSegment {
        class,
        name,
        time: duration(ms),
        share: format!("{}.{:02}", ms * 100 / whole, ms * 10_000 / whole % 100),
        weight: ms,
    };
    phases.into_iter().filter(|(.., ms)| *ms > 0).map(part).collect()
}

/// The phases of a duration as text.
pub(super) fn phase_words(times: &PhaseTimes, waited_ms: u64) -> String {
    let words: Vec<String> =
        parts(times, waited_ms).iter().map(|part| format!("{} {}", part.name, part.time)).collect();
    words.join(" · ")
}

/// A time for programs, as ISO 8601 in UTC: `2026-11-25T11:15:55.120Z`.
pub(super) fn utc_words(ms: u64) -> String {
    i64::try_from(ms)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
        .map_or_else(String::new, |when| format!("{when:.3}"))
}
