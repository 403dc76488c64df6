#![cfg(test)]
//! Tests of the commands as processes.

mod endurance;
mod page;
mod setup;
