//! Deskhand's runtime: it performs the effects that core asks for.
//!
//! - [`agents`]: agents that own no window, in this process and outside of it.
//! - [`driver`]: one session from its first request to its end.
//! - [`journal`]: the session on disk; [`replay`] and [`summary`] read it and do nothing else.
//! - [`held`]: a session that goes on after its process ended; [`fork`]: one that goes on another way; [`verify`] and
//!   [`retention`]: whether it is as it was written, and how long it is kept.
//! - [`report`]: what a session was, for people and other programs.
//! - [`tools`]: what agents can call, one file a tool.
//! - [`people`]: the ways to the user: requests, questions, approvals, pause.
//! - [`side_by_side`]: several sessions in one process.
//! - [`stop`]: the one stop switch.
//!
//! It decides nothing: what to do next is core's word, and what happened goes back to core.

pub mod agents;
mod camera;
mod clock;
pub mod driver;
pub mod fork;
pub mod held;
pub mod journal;
mod observe;
pub mod people;
pub mod replay;
pub mod report;
pub mod retention;
pub mod side_by_side;
pub mod stop;
pub mod summary;
pub mod tools;
pub mod verify;
pub mod words;

pub use driver::{RunEnd, RunError, RunOptions, resume, run};
pub use fork::{ForkError, fork};
pub use held::{HeldSession, HoldError, IdsSeen, InForce};
pub use journal::{Journal, JournalError, JournalProblem, SessionFolder, SessionStore};
pub use replay::{Difference, Replay, replay};
pub use report::{ReportError, ReportFormat, write_report};
pub use stop::StopSwitch;
pub use summary::{PhaseTimes, RoundSummary, RunSummary};
pub use tools::Toolbox;
pub use verify::{Finding, Verification, verify};
