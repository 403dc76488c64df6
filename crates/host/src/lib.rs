//! Deskhand's host: puts sessions together out of configuration, model, desktop, agents and people.
//!
//! A program that embeds Deskhand makes a [`Host`], starts a [`Session`], and runs it:
//!
//! ```no_run
//! use deskhand_host::{Control, Host, HostError, Records, config::Sources};
//!
//! async fn chart() -> Result<(), HostError> {
//!     let host = Host::load(&Sources::of_user())?;
//!     let session = host.start("Make a chart of the sales table")?;
//!     let mut observer = Records(|line: &deskhand_core::record::Line| {
//!         let _ = line; // every line of the journal, as it is written
//!     });
//!     if let Some(ended) = session.run(&Control::unattended(), &mut observer).await? {
//!         assert_eq!(ended.outcome().kind.exit_code(), 0, "{}", ended.outcome().reason);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! - [`config`]: one configuration out of a file, the environment, and what is set for one run.
//! - [`Host`] starts, resumes and forks a [`Session`], and makes [`Tasks`] out of files; all is checked before it starts.
//! - [`Session::run`] and [`Tasks::run`] do the work. A [`Control`] says who is asked and how it is stopped; an
//!   [`Observer`] gets the lines of the journal and [`Notice`]s.
//! - [`workspace`]: the desktop that is worked on, and documents to open.
//! - [`HostError`] is what failed, why, and what to do next.
//!
//! The host never prints, knows no command line, and takes no decision of a session: that is core's.

mod agents;
pub mod batch;
pub mod config;
mod error;
mod host;
pub mod model;
mod notice;
pub mod session;
pub mod workspace;

pub use agents::SANDBOX_ARGUMENT;
pub use batch::{BatchRequest, Task, TaskResult, Tasks, TasksObserver};
pub use error::HostError;
pub use host::Host;
pub use notice::{Notice, Observer, Records};
pub use session::{Control, Ended, ForkRequest, Session, SessionRequest};
pub use workspace::{Workspace, WorkspacePlan};
