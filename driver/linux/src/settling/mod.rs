//! Idle as an event: an application is quiet when it announces nothing, draws nothing, and answers.
//!
//! Events alone cannot tell an idle application from one that is too busy to send any. So quiet counts only once the
//! application has answered a question that it handles in the same loop as its work.
//!
//! - `wait` decides when the wait is over, whatever the desktop.
//! - `asleep` asks the kernel whether an application sleeps, with everyone who serves it.
//! - `pages` asks the kernel whether the processes of pages still work.
//! - `watch` is what it watches here: X events, accessibility events, and the fences behind them.

mod asleep;
mod pages;
mod wait;
mod watch;

pub use watch::ActivitySubscription;
