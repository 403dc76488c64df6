//! Deskhand: testkit.

pub mod display;
pub mod endpoint;
pub mod fixture;
pub mod parser;
pub mod programs;
