//! The session machine: [`Session::next`] says which effect it wants, [`Session::apply`] takes what came back.
//!
//! Deterministic and serialisable. Everything from outside enters as an [`EventRecord`], time included, so
//! folding the same events gives the same effects, byte for byte: that is what resume, replay and fork are.
//!
//! A step runs down the four phases once: `Observed → Replied → Acted → Recorded` ([`phases`]). Which agent
//! steps next, and when a round is over, is decided by the tables in [`crate::states`].

mod agent_state;
mod agents;
mod app;
mod budget;
mod commands;
mod config;
mod documents;
mod effect;
mod entries;
mod evaluation;
mod evaluation_state;
mod event;
mod gate;
mod hands;
mod heard;
mod hiding;
mod host;
mod machine;
mod nested;
mod passwords;
mod phases;
mod plan;
mod planned;
mod questions;
mod recording;
mod resume;
mod review;
mod roles;
mod round;
mod shown;
mod small;
mod stall;
mod state;
mod step;
mod subtask;
mod verify;
mod words;
mod workflow;
mod zoomed;

pub use config::{
    Evaluate, PictureCompression, RoundLimits, SessionConfig, SessionLimits, Verify, ViewConfig,
};
pub use effect::{Approval, AskedBy, Effect, EffectRecord, RefusedCommand, StepRef};
pub use event::{ApprovalScope, EventRecord, FollowerPlan, NoAnswer, SessionEvent, StopReason, Suspension};
pub use hands::WORDS_CHARS_MAX;
pub use machine::ApplyError;
pub use passwords::{ConcealedTexts, DisclosedText, KeptTexts, SessionTextSpan, TypedPassword};
pub use planned::PlannedAction;
pub use review::ReviewedCommand;
pub use roles::{ModelChain, ModelRoles};
pub use round::{RoundTally, SubtaskRecord, SubtaskStatus};
pub use shown::later_view_text;
pub use state::Session;
