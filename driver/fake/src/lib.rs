//! A desktop in memory: a full back end that implements every capability and passes the same contract suite as the
//! one for Linux.
//!
//! It is built from plain data ([`FakeApp`], [`FakeWindow`], [`FakeElement`]) whose [`Behaviour`]s define the effect
//! of a click. Time is virtual: only waits advance the clock, so nothing sleeps and every run is the same.
//! [`FakeDesktop::truth`] reports what really happened; the verdicts of actions are checked against it.

mod behave;
mod desktop;
mod documents;
mod keyboard;
mod office;
mod paint;
mod plan;
mod settling;
mod sheet;
mod shown;
mod stage;
mod text;
mod tree;

pub use desktop::FakeDesktop;
pub use office::{OFFICE_SALES, office, office_with};
pub use plan::{Behaviour, Corrects, FakeApp, FakeElement, FakeWindow, Noise, Semantic, Truth};
pub use settling::FakeWatch;
pub use sheet::FakeSheet;

#[cfg(test)]
mod tests;
