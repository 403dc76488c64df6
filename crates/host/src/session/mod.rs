//! Sessions: planned, run, found, resumed, forked.

mod error;
mod find;
mod fork;
mod plan;
mod resume;
mod run;
mod script;
mod setup;

pub use error::SessionError;
pub(crate) use find::find;
pub use fork::ForkRequest;
pub(crate) use fork::fork;
pub(crate) use plan::Plan;
pub use plan::SessionRequest;
pub(crate) use resume::resume;
pub use run::{Control, Ended, Session};
