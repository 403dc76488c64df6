//! Calls `deskhand-local`, the program that computes with models on this machine: it reads text in pictures and compares the meaning of
//! texts.
//!
//! The program is installed separately, because what it is built of takes longer to compile than all of Deskhand. [`LocalProgram`] starts it
//! and calls it; [`protocol`] is what both write. This crate knows no model, and nothing of agents or desktops.

mod client;
pub mod protocol;

pub use client::{CancelOnDrop, LocalCall, LocalCallError, LocalProgram, NAME};
