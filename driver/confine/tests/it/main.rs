#![cfg(test)]
//! Tests with real programs in real confinements. What happened is read from files and `/proc`, not from our own code.

mod bounds;
mod endings;
mod escapes;
mod programs;
mod storage;
mod world;
