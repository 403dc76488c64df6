//! Deskhand: testkit.
