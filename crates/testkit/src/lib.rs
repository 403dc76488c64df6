//! Test support: mock endpoints, fixture applications, and checks for installed programs.

pub mod display;
pub mod endpoint;
pub mod fixture;
pub mod parser;
pub mod programs;
