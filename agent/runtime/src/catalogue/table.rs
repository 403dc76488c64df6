//! A page of sessions, with what the filters would find otherwise.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    listing::Catalogue,
    query::{Facet, HERE, LIMIT_MAX, Matcher, OutcomeFilter, Query, place_of, sort},
    row::{CatalogueRow, SessionRow, Unreadable},
};

/// The most applications or machines that are counted.
const NAMES_MAX: usize = 200;
/// The most sessions that cannot be read and are named.
const UNREADABLE_MAX: usize = 100;

/// A page of sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SessionTable")]
pub struct SessionTable {
    /// The sessions of the page.
    pub rows: Vec<SessionRow>,
    /// The number of sessions that fit the query, on all pages.
    pub total: usize,
    /// The number of all sessions that can be read.
    pub all: usize,
    /// Number of matches for each choice of a filter.
    pub facets: Facets,
    /// Sessions whose journals cannot be read, newest first; at most 100.
    pub unreadable: Vec<Unreadable>,
    /// The number of all sessions whose journals cannot be read.
    pub unreadable_total: usize,
}

/// Number of sessions that fit the query with another choice of one filter: each of these counts leaves that
/// filter out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Facets {
    /// By outcome; `none` without one. Most frequent first.
    pub outcomes: Vec<FacetCount>,
    /// By application; a session counts for each one that was worked in. Most frequent first, at most 200.
    pub applications: Vec<FacetCount>,
    /// By machine; `here` for this one, `fleet` for sessions that none has. Most frequent first, at most 200.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<FacetCount>,
}

/// A choice of a filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FacetCount {
    /// The choice.
    pub name: String,
    /// Number of matching sessions.
    pub sessions: usize,
}

impl Catalogue {
    /// The page of sessions that a query asks for, from memory.
    pub fn table(&self, query: &Query) -> SessionTable {
        self.table_with(query, std::iter::empty())
    }

    /// The same, with sessions of other machines.
    pub fn table_with<'a>(
        &'a self,
        query: &Query,
        others: impl Iterator<Item = CatalogueRow<'a>>,
    ) -> SessionTable {
        let matcher = Matcher::new(query);
        let (mut rows, mut all) = (Vec::new(), 0);
        let mut found = CatalogueFacetCounts::default();
        for row in self.rows().chain(others) {
            all += 1;
            if matcher.fits_rest(&row) && found.count(&matcher, &row) {
                rows.push(row);
            }
        }
        sort(&mut rows, query.sort, query.direction);
        let page = rows.iter().skip(query.offset).take(query.limit.min(LIMIT_MAX));
        let page = page.map(CatalogueRow::to_row).collect();
        let mut unreadable: Vec<Unreadable> = self.unreadable().collect();
        let unreadable_total = unreadable.len();
        unreadable.truncate(UNREADABLE_MAX);
        SessionTable {
            rows: page,
            total: rows.len(),
            all,
            facets: found.facets(),
            unreadable,
            unreadable_total,
        }
    }

    /// The sessions that fit a query, with those of other machines, in no particular order and on one page.
    pub(super) fn fitting<'a>(
        &'a self,
        query: &'a Query,
        others: impl Iterator<Item = CatalogueRow<'a>>,
    ) -> impl Iterator<Item = CatalogueRow<'a>> {
        let matcher = Matcher::new(query);
        self.rows().chain(others).filter(move |row| {
            matcher.fits_rest(row)
                && [Facet::Outcome, Facet::Application, Facet::Place]
                    .into_iter()
                    .all(|facet| matcher.fits(facet, row))
        })
    }
}

/// Number of matches for each choice of a filter.
#[derive(Default)]
struct CatalogueFacetCounts<'a> {
    outcomes: BTreeMap<&'a str, usize>,
    applications: BTreeMap<&'a str, usize>,
    places: BTreeMap<&'a str, usize>,
}

impl<'a> CatalogueFacetCounts<'a> {
    /// Counts a session that fits everything else; returns whether it fits these filters, too.
    fn count(&mut self, matcher: &Matcher<'_>, row: &CatalogueRow<'a>) -> bool {
        let by_outcome = matcher.fits(Facet::Outcome, row);
        let by_application = matcher.fits(Facet::Application, row);
        let by_place = matcher.fits(Facet::Place, row);
        if by_application && by_place {
            *self.outcomes.entry(OutcomeFilter::of(row.facts.outcome).word()).or_default() += 1;
        }
        if by_outcome && by_place {
            for name in &row.facts.applications {
                *self.applications.entry(name.as_str()).or_default() += 1;
            }
        }
        if by_outcome && by_application {
            *self.places.entry(place_of(row)).or_default() += 1;
        }
        by_outcome && by_application && by_place
    }

    fn facets(mut self) -> Facets {
        // Where there is one machine, it is no choice.
        if self.places.keys().all(|place| *place == HERE) {
            self.places.clear();
        }
        Facets {
            outcomes: counts(self.outcomes, usize::MAX),
            applications: counts(self.applications, NAMES_MAX),
            places: counts(self.places, NAMES_MAX),
        }
    }
}

/// The most frequent choices first, then by name.
fn counts(found: BTreeMap<&str, usize>, max: usize) -> Vec<FacetCount> {
    let mut counts: Vec<FacetCount> =
        found.into_iter().map(|(name, sessions)| FacetCount { name: name.to_owned(), sessions }).collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.sessions));
    counts.truncate(max);
    counts
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
