//! Benches of `deskhand serve`, with real sessions on real desktops: `bench page` and `bench survival`.
//!
//! ```text
//! latency    how long actions on the page take, and what those who watch cost the agents
//! survival   the service is killed again and again: is a session stopped, a record lost or shown twice?
//!   service    a home folder, the service in it, requests to it
//!   sessions   scripts of sessions, and what their journals say
//!   watcher    somebody who reads the events of a session, over server-sent events or a WebSocket, and comes again
//! ```

mod latency;
mod service;
mod sessions;
mod survival;
mod watcher;

pub(super) use latency::{PageArguments, run as run_page};
pub(super) use survival::{SurvivalArguments, run as run_survival};
