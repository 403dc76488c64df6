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
//! What is typed is kept only if the application shows it. A password is not, and [`DemonstratedActs::without_passwords`] hides it where an application
//! shows it elsewhere.

mod acts;
mod gestures;
mod looks;
mod shown;
mod typed;

pub use looks::{Demonstration, DemonstrationObserver, watch};
pub use shown::{DemonstratedActs, ShownAct};
