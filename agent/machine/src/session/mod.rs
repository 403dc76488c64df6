//! The session machine: [`Session::next`] says which effect it wants, [`Session::apply`] takes what came back.
//!
//! Deterministic and serialisable. Everything from outside enters as an [`EventRecord`], time included, so
//! folding the same events gives the same effects, byte for byte: that is what resume, replay and fork are.
//!
//! A step runs down the four phases once: `Observed → Replied → Acted → Recorded` ([`phases`]). Which agent
//! steps next, and when a round is over, is decided by the tables in [`crate::states`].

mod agent_desk;
mod app;
mod app_agent;
mod app_prompt;
mod app_view;
mod asking;
mod at_hand;
mod budget;
mod commands;
mod concealing;
mod config;
mod decisions;
mod delegation;
mod dispatch;
mod documents;
mod effect;
mod effects;
mod entries;
mod error;
mod evaluation;
mod event;
mod gate;
mod grants;
mod healing;
mod heard;
mod hiding;
mod host;
mod host_agent;
mod host_commands;
mod interrupted;
mod judging;
mod keyboard;
mod ledgers;
mod machine;
mod nested;
mod owner;
mod password;
mod passwords;
mod people;
mod phases;
mod plan;
mod planned;
mod planned_work;
mod questions;
mod recording;
mod restart;
mod resume;
mod review;
mod roles;
mod roster;
mod round;
mod round_ledger;
mod run;
mod shown;
mod small;
mod sources;
mod stall;
mod step;
mod step_agent;
mod subtask;
mod takeover;
mod turn;
mod verify;
mod words;
mod workflow;
mod zoomed;

pub use config::{
    Evaluate, PictureCompression, RoundLimits, SessionConfig, SessionLimits, Verify, ViewConfig,
};
pub use effect::{Approval, AskedBy, Effect, EffectRecord, RefusedCommand, StepRef};
pub use event::{ApprovalScope, EventRecord, FollowerPlan, NoAnswer, SessionEvent, StopReason, Suspension};

pub use error::ApplyError;
pub use machine::Session;
pub use password::{ConcealedTexts, DisclosedText, KeptTexts, SessionTextSpan, TypedPassword};
pub use people::WORDS_CHARS_MAX;
pub use planned::PlannedAction;
pub use review::ReviewedCommand;
pub use roles::{ModelChain, ModelRoles};
pub use round::{RoundTally, SubtaskRecord, SubtaskStatus};
pub use shown::later_view_text;
