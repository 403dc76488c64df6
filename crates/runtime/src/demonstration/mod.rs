//! Watching a person do something, and what a workflow learns from it.
//!
//! ```text
//! inputs ──► gestures (clicks, drags, texts, keys) ──┐
//! looks  ──► what was there before and after each ───┴──► acts ──► learn
//! ```
//!
//! [`watch`] looks whenever the desktop has come to rest, and remembers what the person does meanwhile. What it all meant is worked out at the
//! end ([`Demonstration::shown`]), when it is known what came of each input.
//!
//! What is typed is kept only if the application shows it: passwords are never in what this returns.

mod acts;
mod gestures;
mod looks;
mod typed;

pub use acts::{Shown, ShownAct};
pub use looks::{Demonstration, Watching, watch};
