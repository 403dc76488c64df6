//! Search engines, and the pages that they name.
//!
//! ```text
//! Online: what is wanted ──► engine ──► hits (title, address, snippet)
//! Pages: an address ──► each hop asked of the caller ──► bytes within limits ──► text
//! ```
//!
//! What comes from here was written by anybody. Keys stand in a header of the request to their own engine and nowhere else.

mod address;
mod engine;
mod error;
mod html;
mod limits;
mod pages;
mod replies;
mod search;

pub use address::PageHostAccess;
pub use engine::{JsonEngine, SearchEngine, SearchKeyHeader};
pub use error::{OnlineError, PageReadError};
pub use limits::OnlineLimits;
pub use pages::{Pages, WebPage};
pub use search::Online;
