//! Deskhand's host: assembles sessions from configuration, model, desktop, agents and users.
//!
//! A program that embeds Deskhand creates a [`Host`], starts a [`PreparedSession`], and runs it:
//!
//! ```no_run
//! use deskhand_host::{Control, Host, HostError, Records, config::Sources};
//!
//! async fn chart() -> Result<(), HostError> {
//!     let host = Host::load(&Sources::of_user())?;
//!     let session = host.start("Make a chart of the sales table")?;
//!     let mut observer = Records(|line: &deskhand_machine::record::JournalEntry| {
//!         let _ = line; // each journal line as it is written
//!     });
//!     if let Some(ended) = session.run(&Control::unattended(), &mut observer).await? {
//!         assert_eq!(ended.outcome().kind.exit_code(), 0, "{}", ended.outcome().reason);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! - [`config`]: one configuration from a file, the environment, and overrides for one run.
//! - [`Host`] starts, resumes and forks a [`PreparedSession`], and reads [`TaskBatch`] from files; everything is checked first.
//! - [`Host::verify`], [`Host::replay`], [`Host::report`] and [`Host::remove_sessions`] work on stored sessions.
//! - [`Host::session_table`], [`Host::session_series`], [`Host::compare_sessions`] and [`Host::session_moments`] return them as data; a
//!   [`Host::catalogue`] answers many such questions.
//! - [`PreparedSession::run`] and [`TaskBatch::run`] run them. A [`Control`] holds the user channel and the stop switch; an
//!   [`Observer`] gets the lines of the journal and [`Notice`]s.
//! - [`workspace`]: the desktop to work on, and documents to open.
//! - [`demonstration`]: a person shows how something is done.
//! - [`knowledge`]: help and experiences that agents look up.
//! - [`schedules`]: work that begins by itself at set times.
//! - [`local`]: models that are pulled, and run on this machine.
//! - [`HostError`] says what failed, why, and what to do next.
//!
//! The host never prints, knows no command line, and makes no decisions of a session: core does.

mod agents;
pub mod batch;
pub mod config;
pub mod demonstration;
mod error;
mod found;
mod host;
mod instructions;
pub mod knowledge;
pub mod live;
pub mod local;
pub mod model;
mod named_files;
mod notice;
mod notify;
mod prompts;
mod ranker;
pub mod schedules;
mod secrets;
pub mod session;
mod sources;
mod steering;
mod telemetry;
pub mod workflows;
pub mod workspace;

pub use agents::SANDBOX_ARGUMENT;
pub use batch::{
    Batch, BatchNote, BatchRequest, Batches, NotedTask, Task, TaskBatch, TaskFiles, TaskResult,
    TasksObserver, WrittenTask,
};
pub use error::{HostError, agent_help};
pub use found::{ProviderCandidate, found_providers};
pub use host::Host;
pub use instructions::Instructions;
pub use notice::{Notice, Observer, Records};
pub use notify::{NewsKind, WorkEndNotification};
pub use ranker::ranker;
pub use secrets::SecretInfo;
pub use session::{
    AttachedDesktop, Control, DesktopEnd, EndedSession, ForkRequest, KeptDesktop, PreparedSession, Removal,
    RemovalMode, RemovalResult, SessionRequest,
};
pub use steering::{STEERING_POINTS, SteeringKind, SteeringPoint, steering_table};
pub use workspace::{Workspace, WorkspacePlan};
