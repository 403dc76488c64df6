//! Sessions: plan, run, find, resume and fork them, and what can be done with stored ones.

mod error;
mod find;
mod fork;
mod plan;
mod resume;
mod run;
mod script;
mod setup;
mod stored;

pub use error::SessionError;
pub(crate) use find::find;
pub use fork::ForkRequest;
pub(crate) use fork::{fork, read_policy};
pub use plan::SessionRequest;
pub(crate) use plan::{Plan, places, policy};
pub(crate) use resume::resume;
pub use run::{Control, Ended, Session};
pub use stored::{Removal, RemovalMode, RemovalResult};
pub(crate) use stored::{remove, replay, report, review, verify};
