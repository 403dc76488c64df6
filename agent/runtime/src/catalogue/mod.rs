//! A catalogue of the sessions of a store: the facts that a table shows, filtered, sorted and counted, also for thousands of sessions.
//!
//! [`Catalogue::refresh`] reads journals through the [story](crate::story), each once and again when it changed. The index on disk
//! is a cache: it holds nothing that does not follow from the journals, and an entry counts only while its journal has the length and
//! the times that it had.

mod facts;
mod index;
mod listing;
mod query;
mod reading;
mod row;
mod series;
mod table;

pub use facts::{ModelTotals, REQUEST_BOUNDS_MS, STEP_BOUNDS_MS, SessionFacts, SessionQuestion};
pub use listing::Catalogue;
pub use query::{Column, Direction, LIMIT_DEFAULT, LIMIT_MAX, OutcomeFilter, Query};
pub(crate) use reading::facts_of;
pub(crate) use row::dollars;
pub use row::{CatalogueRow, SessionRow, SessionState, Unreadable};
pub use series::Day;
pub use table::{FacetCount, Facets, SessionTable};
