//! The red team: attacks and honest tasks against the program as users run it, by content and by a second player.

mod beside;
mod case;
mod figures;
mod fleet;
mod listing;
mod mind;
mod mode;
mod oracle;
mod person;
mod player;
mod run;
mod terminal;
mod web;
mod world;

use std::{
    error::Error,
    time::{Duration, Instant},
};

pub(crate) use self::{
    case::{Case, attacks, attacks_in, tasks},
    figures::Figures,
    mode::{Account, Confinement, Mode, Way},
    run::{Outcome, Played, play},
};

/// Any error.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// The longest wait for a stage or page to act on a cue.
const CUE_MAX: Duration = Duration::from_secs(10);
/// How often that is looked at.
const CUE_STEP: Duration = Duration::from_millis(10);

/// Waits until something holds; gives up after some seconds.
pub(crate) fn wait_until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() && begun.elapsed() < CUE_MAX {
        std::thread::park_timeout(CUE_STEP);
    }
}
