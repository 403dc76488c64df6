//! `cargo xtask tidy`: the house rules that no compiler checks, as code over the files of the repository.
//!
//! - [`files`]: what the rules look at.
//! - [`code`]: rules for Rust sources. [`layout`]: where things lie. [`manifests`]: `Cargo.toml`.
//!   [`words`]: rules for every text, and links in documents. [`growth`]: how much there is of everything, and how long
//!   files and functions may be.
//!   [`skips`]: why a test may end early. [`tool_names`]: which tools core knows.
//! - [`scanner`]: what is code in a Rust source, and what is not.

mod code;
mod command;
mod files;
mod growth;
mod layout;
mod manifests;
mod scanner;
mod skips;
mod tool_names;
mod words;

pub(crate) use command::{check, run};
