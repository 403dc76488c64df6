//! One session in a table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::SessionFacts;

/// State of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// The session waits for a machine of a fleet.
    Queued,
    /// A process uses it.
    Running,
    /// The session was interrupted: it can be resumed without another request.
    Interrupted,
    /// Neither.
    Ended,
}

impl SessionState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Queued, Self::Running, Self::Interrupted, Self::Ended];

    /// The word that is printed and stored.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Ended => "ended",
        }
    }
}

/// A session of a catalogue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CatalogueRow<'a> {
    /// Its id, which is the name of its folder.
    pub id: &'a str,
    /// State of the session.
    pub state: SessionState,
    /// The machine of a fleet that has it; empty for this one.
    pub place: &'a str,
    /// Facts from its journal.
    pub facts: &'a SessionFacts,
}

/// A session of a table, as data for other programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRow {
    /// Its id, which is the name of its folder.
    pub id: String,
    /// State of the session.
    pub state: SessionState,
    /// The machine of a fleet that has it, or `fleet` if none has; not given for sessions of this machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Its cost in US dollars, as far as it is known.
    pub cost_usd: f64,
    /// Facts from its journal.
    pub facts: SessionFacts,
}

/// A session whose journal cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unreadable {
    /// Its id.
    pub id: String,
    /// Why; it continues "failed to".
    pub problem: String,
}

impl CatalogueRow<'_> {
    /// The cost in US dollars, as far as it is known.
    pub fn cost_usd(&self) -> f64 {
        dollars(self.facts.cost.known.0)
    }

    /// A copy that can be stored.
    pub fn to_row(&self) -> SessionRow {
        SessionRow {
            id: self.id.to_owned(),
            state: self.state,
            place: self.place.to_owned(),
            cost_usd: self.cost_usd(),
            facts: self.facts.clone(),
        }
    }
}

/// Millionths of a dollar as dollars.
#[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^52 millionths")]
pub(crate) fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

impl SessionRow {
    /// The same, borrowed.
    pub fn as_row(&self) -> CatalogueRow<'_> {
        CatalogueRow { id: &self.id, state: self.state, place: &self.place, facts: &self.facts }
    }
}
