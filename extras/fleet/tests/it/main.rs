#![cfg(test)]
//! The fleet on a virtual clock, and on real servers.

mod chaos;
mod nats;
mod plans;
mod queue;
mod security;
