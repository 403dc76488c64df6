//! Tasks on many machines: nothing lost and nothing done twice, whoever dies.
//!
//! - [`task`]: what is to be done, and what a machine has to have for it.
//! - [`signed`]: who submitted it.
//! - [`journal`]: what was done so far, in entries that a holder without the lease cannot write.
//! - [`store`]: what the fleet needs of its server: a work queue, journals, and records that are changed only by who knows them.
//! - [`holder`]: what a worker does with a task that it was given.
//! - [`graph`]: which tasks may begin.
//! - `calls`: calls to the server that are made again; `keys`: the keys of its records; `signature`: a signature and what it covers.
//! - [`controller`]: puts them into the queue.
//! - [`plan`]: inputs, rows of tables, further tries, deadlines and budgets.
//! - [`nats`]: that server.
//! - [`pace`]: waits that no event ends.
//! - [`sim`]: the same code on a virtual clock, with a network that loses, delays and repeats.
//!
//! # Why nothing is done twice
//!
//! Each entry of a journal is appended after one that its writer names. Who takes a task over appends [`Entry::Taken`](journal::Entry)
//! first, and from then on every append of the holder before fails. A holder acts only after the entry that says so is stored. So at
//! most one action of a lost holder is without an answer, its successor reads which one, and goes on by the rules of the task
//! ([`OnLoss`](task::OnLoss)).

mod calls;
pub mod controller;
pub mod graph;
pub mod holder;
pub mod journal;
mod keys;
pub mod nats;
pub mod pace;
pub mod plan;
mod signature;
pub mod signed;
pub mod sim;
pub mod store;
pub mod task;
