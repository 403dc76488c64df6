//! Schedules: work that begins by itself at set times.
//!
//! A schedule is a file of the folder of schedules. Where a systemd user manager answers, a timer of it runs `deskhand schedule run NAME`;
//! elsewhere `deskhand serve` does, as long as it runs. Both know only the name: what is done stands in the file.

mod calendar;
mod error;
mod folder;
mod keeping;
mod units;

pub use calendar::Calendar;
pub use error::ScheduleError;
pub use folder::{Claim, Keeper, LastRun, Schedule, ScheduledWork, Schedules};
pub use units::Timers;
