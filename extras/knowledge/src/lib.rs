//! Retrievers: what was written down elsewhere and may help with a request.
//!
//! - [`experience`]: what sessions and demonstrations taught, kept across processes and crashes.
//! - [`help`]: help and documents of this machine, in an index on disk.
//! - [`online`]: search engines, and the pages that they name.
//!
//! All of them return [`Hit`](deskhand_machine::retrieval::Hit)s: data that somebody else wrote. This crate does not decide when something
//! is looked up, nor what a prompt shows of it, and it knows no model.

mod clock;
pub mod experience;
pub mod help;
mod index;
pub mod online;
mod passages;
mod reading;
mod score;
mod words;

pub use reading::DocumentTextReader;
