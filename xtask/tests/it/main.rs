#![cfg(test)]
//! The commands, run as a person runs them.

mod setup;
