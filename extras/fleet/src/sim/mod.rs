//! The fleet on a virtual clock: servers in memory, a network that loses, delays and repeats, and workers that are killed and stopped.
//!
//! Everything runs on one thread of a runtime whose clock is paused (`tokio::time::pause`), so that a day passes in seconds and a seed gives
//! the same run again. Controllers, holders and graph are those of the product; `docs/internals/fleet-simulation.md` says what the rest
//! stands for.

mod chance;
mod cluster;
mod faults;
mod fleet;
mod judge;
mod link;
mod queue;
mod server;
mod stop;
mod tasks;
mod world;

pub use chance::Chance;
pub use faults::{Faults, Mishap, Network, SimFault, Tail, Whom};
pub use fleet::{SimSettings, simulate};
pub use judge::{SimReport, Spread};
pub use link::{SimLink, SimStore};
pub use server::{Fences, SimServer};
pub use stop::{Stoppable, Switch};
pub use world::{SimRunner, World};
