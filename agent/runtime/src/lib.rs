//! Deskhand's runtime: performs the effects that core requests.
//!
//! - [`agents`]: agents without a window, in this process and outside of it.
//! - [`catalogue`]: a table of all sessions, filtered and sorted; [`comparison`]: two sessions side by side; [`moments`]: one session as a
//!   time line.
//! - [`driver`]: runs one session from its first request to its end; `perform` performs its effects.
//! - [`journal`]: sessions on disk; [`replay`], [`mod@review`] and [`summary`] read them.
//! - [`held`]: resumes a session after its process exited; [`fork`]: branches one; [`verify`] and [`retention`]: integrity
//!   and removal.
//! - [`report`]: reports of a session, for people and other programs.
//! - [`tools`]: the tools of agents, one file each.
//! - [`people`]: user channels: requests, questions, approvals, pause.
//! - [`demonstration`]: watches a person work; [`learn`]: writes workflows out of sessions and demonstrations.
//! - [`mcp`]: connections to MCP servers; [`sources`]: tools of MCP servers and of configured programs.
//! - [`programs`]: programs that are run for agents, and their sandbox.
//! - [`private`]: files that only their owner can read.
//! - [`side_by_side`]: several sessions in one process.
//! - [`words`]: commands, results and numbers in words; [`tree_words`]: elements in words.
//! - [`stop`]: the stop switch; [`waiting`]: what a session waits for.
//!
//! It makes no decisions: core decides what to do next and receives what happened.

pub mod agents;
mod camera;
pub mod catalogue;
mod clock;
pub mod comparison;
pub mod demonstration;
mod driver;
pub mod fork;
pub mod held;
mod hidden;
pub mod journal;
pub mod learn;
pub mod mcp;
pub mod moments;
mod observe;
mod options;
mod passwords;
pub mod people;
mod perform;
pub mod private;
pub mod programs;
mod rank;
pub mod replay;
pub mod report;
pub mod retention;
mod retrieve;
pub mod review;
mod schema;
pub mod side_by_side;
pub mod sources;
pub mod stop;
pub mod story;
pub mod tools;
pub mod tree_words;
pub mod verify;
pub mod waiting;
pub mod words;

pub use catalogue::{Catalogue, Query, SessionTable};
pub use clock::now_ms;
pub use driver::{new_id, resume, run};
pub use fork::{ForkError, fork};
pub use held::{HeldSession, HoldError, InForce, UnsealedJournalPolicy};
pub use journal::{
    Fence, InstructionKind, JournalError, JournalProblem, JournalTail, SealFolder, SealProof, SessionFolder,
    SessionJournal, SessionOwnershipLost, SessionStore, Unproven,
};
pub use options::{RunEnd, RunError, SessionRunOptions};
pub use passwords::for_people;
pub use rank::Ranker;
pub use replay::{Replay, ReplayDiff, replay};
pub use report::{LiveChapter, LivePage, LivePart, ReportError, ReportFormat, write_report};
pub use retrieve::{RetrievalResult, Retrieve, Retrieving, fitting};
pub use review::{PolicyReview, review};
pub use stop::StopSwitch;
pub use story::{PhaseTimes, RoundSummary, RunSummary, Story};
pub use tools::Toolbox;
pub use verify::{IntegrityFinding, Verification, verify};
pub use waiting::{SessionWait, WaitGuard, WaitReason, Waits};
