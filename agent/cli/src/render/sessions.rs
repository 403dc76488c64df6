//! The list of sessions.

use deskhand_machine::outcome::OutcomeKind;
use deskhand_runtime::{
    catalogue::{CatalogueRow, SessionState},
    words::iso_time,
};
use deskhand_ui::text::{clip, one_line};
use serde::Serialize;

use super::describe::{column, number};
use crate::output::{OutputTone, StyledLine};

/// One session in the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SessionListRow {
    /// Its id.
    pub(crate) id: String,
    /// When it began, in UTC by ISO 8601.
    pub(crate) created: String,
    /// The same in milliseconds since 1970-01-01 UTC.
    pub(crate) created_ms: u64,
    /// Its outcome; `None` if it is running or was interrupted.
    pub(crate) outcome: Option<OutcomeKind>,
    /// `true` if a process is using it.
    pub(crate) in_use: bool,
    /// `true` if it was interrupted, so that `deskhand resume` can continue it without another request.
    pub(crate) resumable: bool,
    /// The first request.
    pub(crate) request: String,
    /// The number of steps of all agents.
    pub(crate) steps: u32,
    /// The number of model requests.
    pub(crate) model_calls: u32,
    /// The number of tokens read and written.
    pub(crate) tokens: u64,
    /// The time from the first line to the last, in milliseconds.
    pub(crate) elapsed_ms: u64,
    /// The reason of the outcome; empty without one.
    pub(crate) reason: String,
    /// The applications that agents worked in.
    pub(crate) applications: Vec<String>,
    /// The model, as displayed.
    pub(crate) model: String,
    /// The number of actions, without calls that only read.
    pub(crate) actions: u32,
    /// The known cost, in US dollars.
    pub(crate) cost_usd: f64,
    /// The number of model requests whose cost is unknown.
    pub(crate) cost_unknown_calls: u32,
}

impl SessionListRow {
    /// A session of the catalogue.
    pub(crate) fn of(row: &CatalogueRow<'_>) -> Self {
        let facts = row.facts;
        Self {
            id: row.id.to_owned(),
            created: iso_time(facts.begun_ms),
            created_ms: facts.begun_ms,
            outcome: facts.outcome,
            in_use: row.state == SessionState::Running,
            resumable: row.state == SessionState::Interrupted,
            request: facts.requests.first().cloned().unwrap_or_default(),
            steps: facts.steps,
            model_calls: facts.model_calls,
            tokens: facts.tokens(),
            elapsed_ms: facts.elapsed_ms,
            reason: facts.reason.clone(),
            applications: facts.applications.clone(),
            model: facts.model.clone(),
            actions: facts.verdicts.actions(),
            cost_usd: row.cost_usd(),
            cost_unknown_calls: facts.cost.unknown_calls,
        }
    }
}

/// Formats the time elapsed between two timestamps.
pub(crate) fn age(now_ms: u64, then_ms: u64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match now_ms.saturating_sub(then_ms) / 1000 {
        0..MINUTE => "just now".to_owned(),
        seconds @ MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        seconds @ HOUR..DAY => format!("{} h ago", seconds / HOUR),
        seconds => format!("{} d ago", seconds / DAY),
    }
}

/// The list with a heading.
pub(crate) fn session_lines(rows: &[SessionListRow], now_ms: u64, width: usize) -> Vec<StyledLine> {
    const WHEN: usize = 11;
    const OUTCOME: usize = 17;
    let id_width = rows.iter().map(|row| row.id.len()).max().unwrap_or(0).max(2) + 2;
    let heading = format!(
        "{}{}{}{:>5}{:>10}  request",
        column("id", id_width),
        column("when", WHEN),
        column("outcome", OUTCOME),
        "steps",
        "tokens"
    );
    let mut lines = vec![StyledLine::of(OutputTone::Faint, heading)];
    for row in rows {
        let (tone, word) = match row.outcome {
            _ if row.in_use => (OutputTone::Plain, "in use"),
            None if row.resumable => (OutputTone::Doubtful, "resumable"),
            Some(OutcomeKind::Finished) => (OutputTone::Good, "finished"),
            Some(kind) => (OutputTone::Bad, kind.word()),
            None => (OutputTone::Doubtful, "unfinished"),
        };
        lines.push(
            StyledLine::of(OutputTone::Plain, column(&row.id, id_width))
                .with(OutputTone::Plain, column(&age(now_ms, row.created_ms), WHEN))
                .with(tone, column(word, OUTCOME))
                .with(
                    OutputTone::Plain,
                    format!(
                        "{:>5}{:>10}  {}",
                        row.steps,
                        number(row.tokens),
                        clip(&one_line(&row.request), 200)
                    ),
                )
                .cut(width),
        );
    }
    lines
}
