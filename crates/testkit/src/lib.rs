//! Test support: mock endpoints, fixture applications, forged texts, and checks for installed programs.

pub mod display;
pub mod endpoint;
pub mod faults;
pub mod fixture;
pub mod forgeries;
pub mod operators;
pub mod parser;
pub mod programs;
pub mod wires;
