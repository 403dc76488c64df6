//! Deskhand: testkit.

pub mod endpoint;
