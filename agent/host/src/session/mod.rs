//! Sessions: plan, run, find, resume and fork them, and what can be done with stored ones.

mod ended;
mod error;
mod find;
mod following;
mod fork;
mod hands;
mod kept;
mod looking_back;
mod people;
mod plan;
mod resume;
mod run;
mod script;
mod setup;
mod stored;

pub use ended::{DesktopEnd, EndedSession};
pub use error::SessionError;
pub(crate) use find::find;
pub use fork::ForkRequest;
pub(crate) use fork::fork;
pub use kept::{AttachedDesktop, KeptDesktop};
pub(crate) use kept::{attach, list as kept_desktops, one as kept_desktop};
pub(crate) use looking_back::{moment, series, side_by_side, table};
pub use plan::SessionRequest;
pub(crate) use plan::{SessionPlan, places, policy};
pub(crate) use resume::resume;
pub use run::{Control, PreparedSession};
pub(crate) use setup::documents_of;
pub use stored::{Removal, RemovalMode, RemovalResult};
pub(crate) use stored::{remove, replay, report, review, verify};
