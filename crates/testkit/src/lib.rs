//! Deskhand: testkit.

pub mod endpoint;
pub mod fixture;
pub mod parser;
pub mod programs;
