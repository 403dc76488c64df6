//! `cargo xtask tidy`: the house rules that no compiler checks, as code over the files of the repository.
//!
//! - [`files`]: what the rules look at.
//! - [`code`]: rules for Rust sources. [`layout`]: where things lie. [`manifests`]: `Cargo.toml`.
//!   [`words`]: rules for every text, and links in documents.

mod code;
mod command;
mod files;
mod layout;
mod manifests;
mod words;

pub(crate) use command::{check, run};
