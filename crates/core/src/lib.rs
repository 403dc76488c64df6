//! Deskhand's core: it decides, it never does.
//!
//! Two state machines, four phases, blackboard, memory, targets, commands, prompts and reply parsing, as pure
//! data and functions. No async, no IO, no clock, no environment, no randomness: time, ids and everything
//! from outside come in with [`session`] events. A test over `cargo tree` keeps it so.

pub mod agent;
pub mod blackboard;
pub mod command;
pub mod evaluation;
pub mod geometry;
pub mod ids;
pub mod known_tools;
pub mod memory;
pub mod model;
pub mod money;
pub mod observation;
pub mod outcome;
pub mod policy;
pub mod prompt;
pub mod record;
pub mod reference;
pub mod reply;
pub mod session;
pub mod states;
pub mod target;
pub mod text;
pub mod ui;
