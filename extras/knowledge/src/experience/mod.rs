//! Lessons of sessions and demonstrations: how something was done, and what did not work.
//!
//! ```text
//! add, note_result, forget ──► experience.jsonl (synced, locked) ──► index (rebuilt from it if it does not fit)
//! find ──► index, and records that are not in it yet ──► hits
//! ```
//!
//! The records are authoritative: an acknowledged change is in them, whatever happens to the process.
//! All functions block.

mod error;
mod find;
mod forgetting;
mod index;
mod lock;
mod log;
mod measure;
mod model;
mod same;
mod state;
mod store;

pub use error::ExperienceError;
pub use forgetting::{AGE_DAYS_MAX, EXPERIENCES_MAX, FAILED_AGE_DAYS_MAX, FAILURES_MAX, Forget};
pub use measure::{ExperienceBenchmark, measure, sample};
pub use model::{Experience, ExperienceKind, ExperienceOutcome, FailedApproach, Uses};
pub use store::ExperienceStore;
