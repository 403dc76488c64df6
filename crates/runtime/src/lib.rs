//! Deskhand: runtime.
