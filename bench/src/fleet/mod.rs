//! `cargo xtask bench fleet`: workers of a fleet that are killed, paused and cut off; nothing is lost and nothing is done twice.
//!
//! ```text
//! command    the cases, and what they come to
//!   round      a cluster, six workers and their tasks, with or without chaos
//!     servers    three servers, each with a small disk of its own
//!     crew       the home folder of the workers, their processes, and the tasks
//!     chaos      what goes wrong
//!     gate       what is between a worker and the servers: connections that can be cut
//!     model      an endpoint that carries tasks out, and looks before it repeats something
//!     client     a client of the servers that shares no code with the product
//!     judge      what the ledger, the documents and the journals say
//!   speed      the same tasks by `deskhand batch`
//!   growth     a hundred thousand tasks in the queue
//! ```
//!
//! The ledger is a file outside of all that: the application of each task appends a line to it.

mod chaos;
mod client;
mod command;
mod crew;
mod gate;
mod growth;
mod judge;
mod model;
mod round;
mod servers;
mod speed;

pub(super) use command::{FleetArguments, run};
