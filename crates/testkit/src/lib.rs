//! Deskhand: testkit.

pub mod endpoint;
pub mod fixture;
