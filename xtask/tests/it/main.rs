#![cfg(test)]
//! Tests of the commands as processes.

mod endurance;
mod setup;
