//! Query for sessions: filters, order, and a page.

use std::{cmp::Ordering, fmt, str::FromStr};

use deskhand_machine::outcome::OutcomeKind;
use serde::{Deserialize, Serialize, de};

use super::row::{CatalogueRow, SessionState};

/// The number of sessions of a page, unless a query says otherwise.
pub const LIMIT_DEFAULT: usize = 50;
/// The most sessions of a page.
pub const LIMIT_MAX: usize = 100_000;

/// A question to a catalogue. The default one finds every session, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Query {
    /// Each of these words occurs in a request, the reason of the outcome, an application, a workflow, a model or the id, in any case
    /// of letters.
    pub words: Vec<String>,
    /// The last request has one of these outcomes; empty for any.
    pub outcomes: Vec<OutcomeFilter>,
    /// The session is in one of these states; empty for any.
    pub states: Vec<SessionState>,
    /// One of these words is part of the name of an application that was worked in, in any case of letters; empty for any.
    pub applications: Vec<String>,
    /// One of these words is part of the name of a model, in any case of letters; empty for any.
    pub models: Vec<String>,
    /// A machine of a fleet has it that is called like one of these; `here` is this one. Empty for any.
    pub places: Vec<String>,
    /// Minimum cost in US dollars, as far as the cost is known.
    pub cost_min_usd: Option<f64>,
    /// Maximum cost in US dollars, as far as the cost is known.
    pub cost_max_usd: Option<f64>,
    /// Earliest start, in milliseconds since 1970-01-01 UTC.
    pub begun_min_ms: Option<u64>,
    /// Latest start, in milliseconds since 1970-01-01 UTC.
    pub begun_max_ms: Option<u64>,
    /// The column to sort by. Equal sessions stay newest first.
    pub sort: Column,
    /// The direction.
    pub direction: Direction,
    /// The number of sessions before the page.
    pub offset: usize,
    /// The most sessions of the page; more than 100,000 count as that many.
    pub limit: usize,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            outcomes: Vec::new(),
            states: Vec::new(),
            applications: Vec::new(),
            models: Vec::new(),
            places: Vec::new(),
            cost_min_usd: None,
            cost_max_usd: None,
            begun_min_ms: None,
            begun_max_ms: None,
            sort: Column::default(),
            direction: Direction::default(),
            offset: 0,
            limit: LIMIT_DEFAULT,
        }
    }
}

/// A direction of sorting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From small to great, from early to late, by the alphabet.
    Ascending,
    /// The other way round.
    #[default]
    Descending,
}

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// A column to sort by.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Column {
            $($(#[$doc])* $name,)*
        }

        impl Column {
            /// Every column.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word that names it.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}

columns! {
    /// When the session began.
    #[default]
    Begun = "begun",
    /// When its last record was written.
    Last = "last",
    /// Its id.
    Id = "id",
    /// Its first request.
    Request = "request",
    /// The outcome of its last request.
    Outcome = "outcome",
    /// State of the session.
    State = "state",
    /// The machine that has it.
    Place = "place",
    /// The first application that was worked in.
    Application = "application",
    /// The model, as displayed.
    Model = "model",
    /// The desktop, as displayed.
    Desktop = "desktop",
    /// Steps of all agents.
    Steps = "steps",
    /// Actions, as opposed to calls that only read.
    Actions = "actions",
    /// Model requests.
    ModelCalls = "model_calls",
    /// Input and output tokens.
    Tokens = "tokens",
    /// The known cost.
    Cost = "cost",
    /// The time from the first record to the last.
    Elapsed = "elapsed",
}

impl Column {
    /// Compares by this column; what a session lacks is less than anything.
    fn compare(self, a: &CatalogueRow<'_>, b: &CatalogueRow<'_>) -> Ordering {
        let (x, y) = (a.facts, b.facts);
        match self {
            Self::Begun => x.begun_ms.cmp(&y.begun_ms),
            Self::Last => x.last_ms.cmp(&y.last_ms),
            Self::Id => a.id.cmp(b.id),
            Self::Request => x.requests.first().cmp(&y.requests.first()),
            Self::Outcome => outcome_word(x.outcome).cmp(outcome_word(y.outcome)),
            Self::State => a.state.word().cmp(b.state.word()),
            Self::Place => a.place.cmp(b.place),
            Self::Application => x.applications.first().cmp(&y.applications.first()),
            Self::Model => x.model.cmp(&y.model),
            Self::Desktop => x.desktop.cmp(&y.desktop),
            Self::Steps => x.steps.cmp(&y.steps),
            Self::Actions => x.verdicts.actions().cmp(&y.verdicts.actions()),
            Self::ModelCalls => x.model_calls.cmp(&y.model_calls),
            Self::Tokens => x.tokens().cmp(&y.tokens()),
            Self::Cost => x.cost.known.cmp(&y.cost.known),
            Self::Elapsed => x.elapsed_ms.cmp(&y.elapsed_ms),
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Column {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|column| column.word() == word).copied();
        found.ok_or_else(|| {
            let words: Vec<&str> = Self::ALL.iter().map(|column| column.word()).collect();
            format!("`{word}` is no column; the columns are {}", words.join(", "))
        })
    }
}

/// An outcome, or that there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutcomeFilter {
    /// This outcome.
    Is(OutcomeKind),
    /// The request is worked on, or was broken off.
    None,
}

impl OutcomeFilter {
    /// The filter that the outcome of a session fits.
    pub fn of(outcome: Option<OutcomeKind>) -> Self {
        outcome.map_or(Self::None, Self::Is)
    }

    /// The word that is printed and stored: that of the outcome, or `none`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Is(kind) => kind.word(),
            Self::None => "none",
        }
    }
}

impl FromStr for OutcomeFilter {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = || OutcomeKind::ALL.into_iter().map(Self::Is).chain([Self::None]);
        known().find(|filter| filter.word() == word).ok_or_else(|| {
            let words: Vec<&str> = known().map(Self::word).collect();
            format!("`{word}` is no outcome; the outcomes are {}", words.join(", "))
        })
    }
}

impl Serialize for OutcomeFilter {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for OutcomeFilter {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

fn outcome_word(outcome: Option<OutcomeKind>) -> &'static str {
    OutcomeFilter::of(outcome).word()
}

/// A filter that a facet leaves out, to count what another choice would find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Facet {
    Outcome,
    Application,
    Place,
}

/// Name of this machine among others.
pub(super) const HERE: &str = "here";

/// The name of the machine that has a session.
pub(super) fn place_of<'a>(row: &CatalogueRow<'a>) -> &'a str {
    if row.place.is_empty() { HERE } else { row.place }
}

/// A query that is prepared to be compared with many sessions.
pub(super) struct Matcher<'a> {
    query: &'a Query,
    words: Vec<String>,
    applications: Vec<String>,
    models: Vec<String>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(query: &'a Query) -> Self {
        let lowercase = |words: &[String]| words.iter().map(|word| word.to_lowercase()).collect();
        Self {
            query,
            words: lowercase(&query.words),
            applications: lowercase(&query.applications),
            models: lowercase(&query.models),
        }
    }

    /// Returns `true` if a session fits everything but outcomes, applications and places.
    pub(super) fn fits_rest(&self, row: &CatalogueRow<'_>) -> bool {
        let Query { states, cost_min_usd, cost_max_usd, begun_min_ms, begun_max_ms, .. } = self.query;
        let (facts, cost) = (row.facts, row.cost_usd());
        (states.is_empty() || states.contains(&row.state))
            && cost_min_usd.is_none_or(|min| cost >= min)
            && cost_max_usd.is_none_or(|max| cost <= max)
            && begun_min_ms.is_none_or(|min| facts.begun_ms >= min)
            && begun_max_ms.is_none_or(|max| facts.begun_ms <= max)
            && is_part_of_any(&self.models, || facts.models.iter().chain([&facts.model]))
            && self.has_words(row)
    }

    /// Returns `true` if a session fits one of the filters that are facets.
    pub(super) fn fits(&self, facet: Facet, row: &CatalogueRow<'_>) -> bool {
        match facet {
            Facet::Outcome => {
                let outcomes = &self.query.outcomes;
                outcomes.is_empty() || outcomes.contains(&OutcomeFilter::of(row.facts.outcome))
            }
            Facet::Place => {
                let places = &self.query.places;
                places.is_empty() || places.iter().any(|place| place == place_of(row))
            }
            Facet::Application => is_part_of_any(&self.applications, || row.facts.applications.iter()),
        }
    }

    fn has_words(&self, row: &CatalogueRow<'_>) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let facts = row.facts;
        let names = facts.applications.iter().chain(&facts.workflows).chain(&facts.models);
        let texts = facts.requests.iter().chain([&facts.reason, &facts.model]).chain(names);
        let mut texts = texts.map(String::as_str).chain([row.id, row.place]).collect::<Vec<_>>().join("\n");
        // Most texts have no other letters, for which this needs no second copy.
        if texts.is_ascii() {
            texts.make_ascii_lowercase();
        } else {
            texts = texts.to_lowercase();
        }
        self.words.iter().all(|word| texts.contains(word.as_str()))
    }
}

/// Returns `true` if one of the words is part of one of the names; true without words.
fn is_part_of_any<'n, N: Iterator<Item = &'n String>>(words: &[String], names: impl Fn() -> N) -> bool {
    words.is_empty()
        || names().any(|name| {
            let name = name.to_lowercase();
            words.iter().any(|word| name.contains(word.as_str()))
        })
}

/// Sorts sessions that are given newest first.
pub(super) fn sort(rows: &mut [CatalogueRow<'_>], column: Column, direction: Direction) {
    rows.sort_by(|a, b| {
        let order = column.compare(a, b);
        match direction {
            Direction::Ascending => order,
            Direction::Descending => order.reverse(),
        }
    });
}
